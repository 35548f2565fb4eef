package supervise

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Gate holds back processes that are started before their time, so that loading
// and initialising a big program does not count when its time has come. It is a
// pipe: a process behind a closed gate reads, and reads the end once it is
// open, at once if it always was.
type Gate struct{ r, w *os.File }

// NewGate makes a closed gate.
func NewGate() (*Gate, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open gate: %w", err)
	}
	return &Gate{r: r, w: w}, nil
}

// File is what processes inherit to wait at the gate.
func (g *Gate) File() *os.File { return g.r }

// Open lets everyone through, now and later.
func (g *Gate) Open() { _ = g.w.Close() }

// Close opens the gate and gives up its file: nobody can be started behind it
// any more.
func (g *Gate) Close() {
	g.Open()
	_ = g.r.Close()
}

// Await waits at the gate that was inherited as file descriptor fd.
func Await(fd uintptr) {
	unix.CloseOnExec(int(fd))
	gate := os.NewFile(fd, "gate")
	var b [1]byte
	_, _ = gate.Read(b[:])
	_ = gate.Close()
}
