package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrEnded is what Signal returns when the program has ended.
var ErrEnded = errors.New("the process has ended")

// Process is a program under guard.
type Process struct {
	pid   int
	ended chan struct{}
	exit  Exit // once ended is closed
	known bool // exit is what the guard told

	mu       sync.Mutex // one command at a time
	lifeline *os.File
	commands *json.Encoder
	acted    chan struct{}
}

// endTime is how long Close waits for a guard to end: it gives itself less.
const endTime = killTime + 5*time.Second

// Start starts a program under guard. An error says that it could not be started.
func Start(o Options) (*Process, error) {
	cmd, err := newGuard()
	if err != nil {
		return nil, err
	}
	s := spec{Path: o.Path, Args: o.Args, Env: lastWins(o.Env), Dir: o.Dir, Remove: o.Remove}
	if o.Output != nil {
		cmd.Stderr = o.Output
		cmd.ExtraFiles = append([]*os.File{o.Output}, o.Inherit...)
		s.Files = len(cmd.ExtraFiles)
	} else if len(o.Inherit) > 0 {
		return nil, errors.New("guard: Inherit needs an Output")
	}
	lifeline, events, err := startWithPipes(cmd)
	if err != nil {
		return nil, fmt.Errorf("start the guard: %w", err)
	}
	p := &Process{
		ended: make(chan struct{}), lifeline: lifeline, commands: json.NewEncoder(lifeline), acted: make(chan struct{}),
	}
	started := make(chan event, 1)
	go p.follow(cmd, events, started)
	if err := p.commands.Encode(s); err != nil {
		p.Close()
		return nil, fmt.Errorf("tell the guard what to run: %w", err)
	}
	select {
	case e := <-started:
		if e.Error != "" {
			p.Close()
			return nil, errors.New(e.Error)
		}
		p.pid = e.PID
		return p, nil
	case <-p.ended:
		p.Close()
		return nil, errors.New("the guard ended before it had started anything")
	}
}

// lastWins leaves one value for each name, as exec.Cmd does: a program that looks
// for one takes the first it finds.
func lastWins(env []string) []string {
	at := make(map[string]int, len(env))
	var kept []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if i, twice := at[name]; twice {
			kept[i] = v
			continue
		}
		at[name] = len(kept)
		kept = append(kept, v)
	}
	return kept
}

// newGuard is this executable, to be started as a guard.
func newGuard() (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the executable that guards: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Args = []string{"lab-guard"}
	cmd.Env = []string{env + "=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

// startWithPipes starts cmd and returns the pipes to its input and from its output.
// cmd's own pipes won't do: they close when it is waited for.
func startWithPipes(cmd *exec.Cmd) (to, from *os.File, err error) {
	in, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	from, out, err := os.Pipe()
	if err != nil {
		to.Close()
		return nil, nil, err
	}
	defer out.Close()
	cmd.Stdin, cmd.Stdout = in, out
	if err := cmd.Start(); err != nil {
		to.Close()
		from.Close()
		return nil, nil, err
	}
	return to, from, nil
}

// follow hears what the guard says, to its end.
func (p *Process) follow(cmd *exec.Cmd, events *os.File, started chan<- event) {
	defer close(p.ended)
	defer func() { _ = cmd.Wait() }()
	defer events.Close()
	p.exit.Code = -1
	in := json.NewDecoder(events)
	for {
		var e event
		if in.Decode(&e) != nil {
			return
		}
		switch {
		case e.PID != 0 || e.Error != "":
			started <- e
		case e.Acted:
			p.acted <- struct{}{}
		case e.Exit != nil:
			p.exit, p.known = *e.Exit, true
		}
	}
}

// PID is the program's.
func (p *Process) PID() int { return p.pid }

// Ended is closed when the program, all that it left behind, and the guard have
// ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Exit tells how the program ended, and false where nobody knows: it has not
// ended, or its guard was killed.
func (p *Process) Exit() (Exit, bool) {
	select {
	case <-p.ended:
		return p.exit, p.known
	default:
		return Exit{}, false
	}
}

// Signal sends a signal to the program, and to no other process. When it returns,
// the signal has been sent, and after SIGSTOP the program has stopped. ErrEnded says that the program had ended.
func (p *Process) Signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lifeline == nil || p.commands.Encode(command{s}) != nil {
		return ErrEnded
	}
	select {
	case <-p.acted:
		return nil
	case <-p.ended:
		return ErrEnded
	}
}

// Close ends the program and all that it started, by SIGKILL, and returns when
// they are gone. It may be called more than once.
func (p *Process) Close() {
	p.mu.Lock()
	if p.lifeline != nil {
		p.lifeline.Close()
		p.lifeline = nil
	}
	p.mu.Unlock()
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
}
