package supervise

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Lifeline is the pipe by which children learn that their supervisor is gone.
type Lifeline struct{ r, w *os.File }

// NewLifeline opens the pipe. Keep it for the supervisor's life.
func NewLifeline() (*Lifeline, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open lifeline: %w", err)
	}
	return &Lifeline{r: r, w: w}, nil
}

// File is the end that children inherit. The other one must never be.
func (l *Lifeline) File() *os.File { return l.r }

// Close cuts the line: every child that is Tethered to it dies.
func (l *Lifeline) Close() {
	_ = l.w.Close()
	_ = l.r.Close()
}

// Tether binds the life of this process to a lifeline inherited as file
// descriptor fd: when its other end closes, this process is killed at once, as
// by kill -9. There is nobody left to wait for a tidy end, and etcd's log is
// made for dying like this.
func Tether(fd uintptr) {
	unix.CloseOnExec(int(fd))
	line := os.NewFile(fd, "lifeline")
	go func() {
		var b [1]byte
		// Nothing is ever written: this returns when the last writer is gone.
		_, _ = line.Read(b[:])
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	}()
}
