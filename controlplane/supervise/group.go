package supervise

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Options of a Group. The zero value is usable.
type Options struct {
	// Backoff holds the pause before each restart; a process that dies once
	// more than there are pauses has failed. Default: 0.5 s, 2 s, 5 s.
	Backoff []time.Duration
	// Stable is how long a process must have run for its earlier deaths to be
	// forgotten. Default: 1 minute.
	Stable time.Duration
	// LogLines is how many last lines of its log a failed process's Status
	// holds. Default: 10.
	LogLines int
	// Changed is called after each change of a process's state. It must not
	// block, nor call the Group.
	Changed func()
}

// Group is a set of processes that are kept alive together.
type Group struct {
	o  Options
	mu sync.Mutex
	// forgiving: restart what dies. Off while starting up, where a death is
	// told at once rather than tried again.
	forgiving bool
	closed    bool // everything was told to stop: nothing is started any more
	processes []*process
}

// NewGroup returns an empty group, which does not restart yet: see Forgive.
func NewGroup(o Options) *Group {
	if len(o.Backoff) == 0 {
		o.Backoff = []time.Duration{500 * time.Millisecond, 2 * time.Second, 5 * time.Second}
	}
	if o.Stable == 0 {
		o.Stable = time.Minute
	}
	if o.LogLines == 0 {
		o.LogLines = 10
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return &Group{o: o}
}

func (g *Group) change(f func()) {
	g.mu.Lock()
	f()
	g.mu.Unlock()
	g.o.Changed()
}

// Start starts a process and takes it into the group.
func (g *Group) Start(s Spec) error {
	p := newProcess(g, s)
	cmd, err := p.launch()
	if err != nil {
		return err
	}
	g.change(func() { g.processes = append(g.processes, p) })
	p.started(cmd)
	go p.keep(cmd)
	return nil
}

// Forgive begins to restart processes that die.
func (g *Group) Forgive() { g.change(func() { g.forgiving = true }) }

// Status returns the processes' states in the order of their start.
func (g *Group) Status() []Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]Status, len(g.processes))
	for i, p := range g.processes {
		out[i] = p.status
	}
	return out
}

// Failed returns the first process that has failed, if one has.
func (g *Group) Failed() (Status, bool) {
	for _, s := range g.Status() {
		if s.State == Failed {
			return s, true
		}
	}
	return Status{}, false
}

// Stop ends processes, last started first: each gets SIGTERM, and SIGKILL if it
// is still there after grace. With names it ends only those, and Resume may start
// them again. It returns when they are gone.
func (g *Group) Stop(grace time.Duration, names ...string) {
	g.mu.Lock()
	g.closed = g.closed || len(names) == 0
	var stop []*process
	for i := len(g.processes) - 1; i >= 0; i-- {
		if p := g.processes[i]; len(names) == 0 || slices.Contains(names, p.spec.Name) {
			stop = append(stop, p)
			select {
			case <-p.asked:
			default:
				close(p.asked)
			}
		}
	}
	g.mu.Unlock()
	for _, p := range stop {
		p.signal(syscall.SIGTERM)
	}
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	for _, p := range stop {
		select {
		case <-p.done:
			continue
		case <-deadline.C:
			deadline.Reset(0) // for those that follow
		}
		p.signal(syscall.SIGKILL)
		<-p.done
	}
	g.change(func() {
		for _, p := range stop {
			// One that had failed before is down because it was asked for now.
			p.status.State, p.status.PID, p.status.Log = Stopped, 0, nil
		}
	})
}

func (p *process) signal(s os.Signal) {
	p.group.mu.Lock()
	cmd := p.cmd
	p.group.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Signal(s) // an error says that it is gone
	}
}
