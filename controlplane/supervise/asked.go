package supervise

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrClosed says that the group was stopped as a whole.
var ErrClosed = errors.New("everything is being stopped")

// NotInStateError says that a process can't do what it was asked for, being in
// the state that it is in.
type NotInStateError struct {
	Name  string
	State State
}

func (e *NotInStateError) Error() string { return fmt.Sprintf("%s is %s", e.Name, e.State) }

// Of returns the state of the process of that name, if the group has one.
func (g *Group) Of(name string) (Status, bool) {
	for _, s := range g.Status() {
		if s.Name == name {
			return s, true
		}
	}
	return Status{}, false
}

// Resume starts a process again that was stopped or has failed. It begins anew:
// its earlier deaths are forgotten. Of one that is neither, or that the group
// does not have, the error is a *NotInStateError.
func (g *Group) Resume(name string) error {
	var err error
	g.change(func() {
		i := g.index(name)
		switch {
		case i < 0:
			err = &NotInStateError{Name: name, State: "unknown"}
			return
		case g.closed:
			err = ErrClosed
			return
		}
		old := g.processes[i]
		select {
		case <-old.done:
		default:
			err = &NotInStateError{Name: name, State: old.status.State}
			return
		}
		p := newProcess(g, old.spec)
		// With the lock held, so that a Stop can't come in between and miss it.
		cmd, launchErr := p.launch()
		if launchErr != nil {
			err = launchErr
			return
		}
		p.cmd = cmd
		p.status.State, p.status.PID, p.status.Exit = Running, cmd.Process.Pid, old.status.Exit
		g.processes[i] = p
		go p.keep(cmd)
	})
	return err
}

// Kill kills a running process, as if it had crashed: the group restarts it
// after the first of its pauses. Since it was asked for, that death does not
// count against the process. Of one that doesn't run, the error is a
// *NotInStateError.
func (g *Group) Kill(name string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := g.index(name)
	if i < 0 {
		return &NotInStateError{Name: name, State: "unknown"}
	}
	p := g.processes[i]
	if p.status.State != Running {
		return &NotInStateError{Name: name, State: p.status.State}
	}
	p.excused = true
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		p.excused = false // it died by itself in this moment
		return fmt.Errorf("kill %s: %w", name, err)
	}
	return nil
}

// index is where a process is; -1 if nowhere. The caller holds the lock.
func (g *Group) index(name string) int {
	for i, p := range g.processes {
		if p.spec.Name == name {
			return i
		}
	}
	return -1
}
