package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Spec is a process to keep alive.
type Spec struct {
	Name string
	Path string
	Args []string // without the program's name
	Dir  string
	Env  []string // the whole environment; nothing is inherited
	Log  string   // file that takes standard output and error; appended to
	// Inherit are open files that the process gets as descriptors 3, 4, …
	Inherit []*os.File
}

// State is where a process is in its life.
type State string

// The states of a process.
const (
	Running    State = "running"
	Restarting State = "restarting" // it died, and is started again after a pause
	Failed     State = "failed"     // it died too often, or while that is not forgiven
	Stopped    State = "stopped"    // as asked
)

// Status is what there is to say of a process.
type Status struct {
	Name     string   `json:"name"`
	PID      int      `json:"pid,omitempty"`
	State    State    `json:"state"`
	Restarts int      `json:"restarts"`
	Exit     string   `json:"exit,omitempty"` // how it last ended: "exit status 1", "signal: killed"
	Log      []string `json:"log,omitempty"`  // last lines, once it has failed
}

// process is one Spec under a Group's care.
type process struct {
	spec  Spec
	group *Group
	asked chan struct{} // closed when a stop is asked for
	done  chan struct{} // closed when it is over for good

	// Guarded by group.mu.
	status  Status
	cmd     *exec.Cmd
	deaths  int  // that count against the group's Backoff
	excused bool // it is about to die because somebody asked for that
}

func newProcess(g *Group, s Spec) *process {
	return &process{
		spec: s, group: g, status: Status{Name: s.Name},
		asked: make(chan struct{}), done: make(chan struct{}),
	}
}

func (p *process) launch() (*exec.Cmd, error) {
	log, err := os.OpenFile(p.spec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: open log: %w", p.spec.Name, err)
	}
	defer log.Close() // the child has its own
	cmd := exec.Command(p.spec.Path, p.spec.Args...)
	cmd.Dir, cmd.Env = p.spec.Dir, p.spec.Env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = p.spec.Inherit
	// A group of its own: a Ctrl-C meant for somebody else never reaches it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.spec.Name, err)
	}
	return cmd, nil
}

// keep waits for the process, and starts it again as long as the group's rules
// allow.
func (p *process) keep(cmd *exec.Cmd) {
	defer close(p.done)
	for {
		began := time.Now()
		err := cmd.Wait()
		ran := time.Since(began)
		select {
		case <-p.asked:
			p.group.change(func() { p.status.State, p.status.PID, p.status.Exit = Stopped, 0, exitText(err) })
			return
		default:
		}
		var pause time.Duration
		again := false
		p.group.change(func() {
			p.status.PID, p.status.Exit = 0, exitText(err)
			if ran >= p.group.o.Stable {
				p.status.Restarts, p.deaths = 0, 0
			}
			excused := p.excused
			p.excused = false
			again = p.group.forgiving && (excused || p.deaths < len(p.group.o.Backoff))
			if !again {
				p.status.State, p.status.Log = Failed, Telling(Tail(p.spec.Log, 200), p.group.o.LogLines)
				return
			}
			if excused {
				pause = p.group.o.Backoff[0]
			} else {
				pause = p.group.o.Backoff[p.deaths]
				p.deaths++
			}
			p.status.State = Restarting
			p.status.Restarts++
		})
		if !again {
			return
		}
		select {
		case <-time.After(pause):
		case <-p.asked:
			p.group.change(func() { p.status.State = Stopped })
			return
		}
		next, err := p.launch()
		if err != nil {
			p.group.change(func() { p.status.State, p.status.Exit = Failed, err.Error() })
			return
		}
		cmd = next
		p.started(cmd)
	}
}

// started records the new pid, and passes on a stop that was asked for while
// the process was being started.
func (p *process) started(cmd *exec.Cmd) {
	p.group.change(func() {
		p.cmd = cmd
		p.status.PID, p.status.State, p.status.Log = cmd.Process.Pid, Running, nil
	})
	select {
	case <-p.asked:
		_ = cmd.Process.Signal(syscall.SIGTERM)
	default:
	}
}

// exitText says how a process ended.
func exitText(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "exit status 0"
	case errors.As(err, &exit):
		return exit.ProcessState.String()
	default:
		return err.Error()
	}
}
