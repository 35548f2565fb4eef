package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/controllings/controllings/todo/channel"
	"github.com/controllings/controllings/todo/guard"
)

// ProcessOptions say what to start. The zero value starts the chapter's own
// program as "manager".
type ProcessOptions struct {
	// Name tells the bed's processes apart, and is the name of the process's
	// client: its requests bear it (proxy.Request.Client), and a rule can be for
	// it alone (proxy.Match.Client). Default "manager". A name can be used again
	// when the process that had it has ended.
	Name string
	// Args are the program's arguments, Env are "NAME=value" pairs beside the
	// environment that every process gets. In both, {address:X} stands for a
	// loopback address such as 127.0.0.1:23456 and {port:X} for its port, under
	// any name X: each process has its own, free ones. "metrics" is where Scrape
	// looks, "health" where Ready and Healthy do:
	//
	//	Args: []string{"--metrics-bind-address={address:metrics}"}
	Args, Env []string
	// Dir is the working directory. Default: an empty folder of its own.
	Dir string
	// Path is another program than the chapter's ./cmd/manager.
	Path string
}

// Process is a program of the learner's that runs beside the check. It is gone at
// the end of the check, with all that it started, whatever any of them does.
type Process struct {
	bed       *Bed
	name      string
	start     time.Time
	guarded   *guard.Process
	addresses map[string]string
	output    guard.Output
	readers   sync.WaitGroup // of output and report
	done      chan struct{}  // it has ended, and all it said is known

	mu      sync.Mutex
	told    bool // it was sent a signal that ends processes
	stopped bool
}

// Exit is how a process ended.
type Exit struct {
	// Code is the exit code; -1 when a signal ended the process.
	Code int
	// Signal is the signal that ended it; 0 when it ended by itself.
	Signal syscall.Signal
	// Elapsed is how long it ran.
	Elapsed time.Duration
}

// String is "exit code 1" or "signal: killed".
func (e Exit) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("signal: %v", e.Signal)
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Start starts the chapter's ./cmd/manager, or another program, as a process of
// its own: with the rights of the learner's code, with $KUBECONFIG naming its
// client's kubeconfig, an empty $HOME, and nothing in its environment that leads
// to another cluster. It returns as soon as the process runs; WaitReady waits
// until it serves.
//
// The program is the one that the runner has built ($LAB_MANAGER), else it is
// built here, once for all checks of a test process. One that doesn't compile is
// a failure of the check.
func (b *Bed) Start(o ProcessOptions) *Process {
	b.t.Helper()
	if o.Name == "" {
		o.Name = "manager"
	}
	client := b.Client(o.Name)
	for _, other := range b.allProcesses() {
		if other.name == o.Name && !other.hasEnded() {
			b.giveUp(fmt.Errorf("process %s is started while it runs: give each process a name of its own", o.Name))
		}
	}
	if o.Path == "" {
		o.Path = b.manager()
	}
	private := b.t.TempDir()
	home, tmp, work := filepath.Join(private, "home"), filepath.Join(private, "tmp"), filepath.Join(private, "work")
	for _, dir := range []string{home, tmp, work} {
		b.Must(os.Mkdir(dir, 0o700), "make a folder for a process")
	}
	if o.Dir == "" {
		o.Dir = work
	}
	p := &Process{bed: b, name: o.Name, addresses: map[string]string{}, done: make(chan struct{}),
		output: guard.Output{Head: keepHead, Tail: keepTail}}
	args, err := p.fillIn(o.Args)
	b.Must(err, "find a free port")
	env, err := p.fillIn(o.Env)
	b.Must(err, "find a free port")
	env = append(env, "KUBECONFIG="+client.Kubeconfig(), "HOME="+home, "TMPDIR="+tmp)

	err = p.run(guard.Options{Path: o.Path, Args: args, Env: environment(os.Environ(), env), Dir: o.Dir})
	b.Must(err, fmt.Sprintf("start process %s", p.name))
	b.keep(p)
	return p
}

// keep takes p into the bed, in place of one of the same name that has ended.
func (b *Bed) keep(p *Process) {
	b.processesMu.Lock()
	defer b.processesMu.Unlock()
	b.processes = slices.DeleteFunc(b.processes, func(o *Process) bool { return o.name == p.name })
	b.processes = append(b.processes, p)
}

// allProcesses are those that were started, in the order of their start.
func (b *Bed) allProcesses() []*Process {
	b.processesMu.Lock()
	defer b.processesMu.Unlock()
	return slices.Clone(b.processes)
}

// run starts the program, and lets it be ended with the check.
func (p *Process) run(o guard.Options) error {
	out, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	wire, err := channel.New()
	if err != nil {
		out.Close()
		return err
	}
	o.Output, o.Inherit = theirs, wire.Files()
	o.Env = append(o.Env, wire.Env(guard.FirstInherited)...)
	p.start = time.Now()
	p.guarded, err = guard.Start(o)
	wire.Started()
	if err != nil {
		out.Close()
		wire.Close()
		return err
	}
	p.bed.t.Cleanup(p.end)
	p.readers.Go(func() { p.keepOutput(out) })
	p.readers.Go(func() { p.hearSteps(wire) })
	go func() {
		defer close(p.done)
		<-p.guarded.Ended()
		// Where a process can get away from its guard, it has no say any more.
		wire.Cut(time.Second)
		_ = out.SetReadDeadline(time.Now().Add(time.Second))
		p.readers.Wait()
	}()
	return nil
}

// end kills the process and waits until nothing of it is left.
func (p *Process) end() {
	p.guarded.Close()
	select {
	case <-p.guarded.Ended():
		<-p.done
	default:
		p.bed.t.Errorf("testbed: process %s can't be killed", p.name)
	}
}

// Name is the process's name, and its client's.
func (p *Process) Name() string { return p.name }

// PID is the process's id.
func (p *Process) PID() int { return p.guarded.PID() }

// Signal sends a signal to the process alone, as a kubelet does, and returns when
// it has been sent. To a process that has ended it does nothing.
func (p *Process) Signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch s {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGKILL:
		p.told = true
	case syscall.SIGSTOP:
		p.stopped = true
	case syscall.SIGCONT:
		p.stopped = false
	}
	_ = p.guarded.Signal(s) // an error says that it has ended
}

// Kill ends the process by SIGKILL, without waiting: Wait does.
func (p *Process) Kill() { p.Signal(syscall.SIGKILL) }

// Stop lets the process get no CPU (SIGSTOP), as on a machine that is starved or
// asleep, until Cont. Its connections stay open, and nothing answers on them.
func (p *Process) Stop() { p.Signal(syscall.SIGSTOP) }

// Cont lets the process go on after Stop. For it, time has jumped.
func (p *Process) Cont() { p.Signal(syscall.SIGCONT) }

// Exited tells how the process ended, and false while it runs.
func (p *Process) Exited() (Exit, bool) {
	if !p.hasEnded() {
		return Exit{}, false
	}
	exit, _ := p.guarded.Exit()
	return Exit(exit), true
}

func (p *Process) hasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Wait waits until the process has ended, at most so long, and fails with f if it
// hasn't. The time limit is stretched by Scale. What the process left behind, such
// as children, is ended with it.
func (p *Process) Wait(within time.Duration, f Fail) Exit {
	b := p.bed
	b.t.Helper()
	within = Scale(within)
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	case <-b.report.failed:
	}
	b.checkFailed()
	exit, ended := p.Exited()
	if !ended {
		b.mustAnswer()
		f.Seen = lines(f.Seen, fmt.Sprintf("process %s still runs after %s", p.name, round(within)))
		b.Fail(f)
	}
	if _, known := p.guarded.Exit(); !known {
		b.giveUp(fmt.Errorf("nobody knows how process %s ended: its guard was killed", p.name))
	}
	return exit
}

// String says how the process is, for a failure: "process a: runs for 3.2s".
func (p *Process) String() string {
	exit, ended := p.Exited()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case ended:
		return fmt.Sprintf("process %s: ended after %s, %s", p.name, round(exit.Elapsed), exit)
	case p.stopped:
		return fmt.Sprintf("process %s: held by SIGSTOP", p.name)
	default:
		return fmt.Sprintf("process %s: runs for %s", p.name, round(time.Since(p.start)))
	}
}

// mustRun fails, with see as the place to read on, if processes were started and each of them has ended, though no
// signal told it to: where nobody is left, nobody sends requests.
func (b *Bed) mustRun(see string) {
	b.t.Helper()
	all := b.allProcesses()
	crashed := 0
	for _, p := range all {
		if !p.hasEnded() {
			return
		}
		p.mu.Lock()
		if !p.told {
			crashed++
		}
		p.mu.Unlock()
	}
	if crashed > 0 {
		b.Fail(Fail{Expected: "a process that goes on running", Seen: "it has ended by itself", See: see})
	}
}
