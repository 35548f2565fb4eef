package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func init() {
	if os.Getenv(env) != "" {
		run()
		os.Exit(0)
	}
}

// How long and how often the guard tries to kill what is left. A fork bomb is
// killed faster than it grows; what can't be killed at all (another user's) must
// not keep the guard for ever.
const (
	killTime  = 10 * time.Second
	killPause = 5 * time.Millisecond
)

// guard is the guard's side. One goroutine does all of it, so that a signal never
// goes to a process that has just been waited for and whose number is another's.
type guard struct {
	spec     spec
	events   *json.Encoder
	children chan os.Signal // SIGCHLD
	pid      int            // the program's; 0 once it has been waited for
	group    int            // its process group's
	stopped  bool           // by SIGSTOP, all of its threads
	start    time.Time
	exit     *Exit
}

func run() {
	// Caught, not ignored: what is ignored would stay so in the program. Nothing
	// ends the guard but its parent's end; writing to a parent that is gone least
	// of all.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE)
	g := &guard{events: json.NewEncoder(os.Stdout), children: make(chan os.Signal, 1)}
	signal.Notify(g.children, syscall.SIGCHLD)
	adopt()

	in := json.NewDecoder(os.Stdin)
	if in.Decode(&g.spec) != nil {
		return // the parent died before it said what it wanted
	}
	if g.spec.Path == "" {
		_ = in.Decode(&command{}) // never comes: this returns when the parent is gone
		g.remove()
		return
	}
	if err := g.begin(); err != nil {
		g.tell(event{Error: err.Error()})
		return
	}
	g.tell(event{PID: g.pid})
	g.keep(in)
}

// keep carries out commands until the program or the parent has ended.
func (g *guard) keep(in *json.Decoder) {
	commands, gone := make(chan command), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			var c command
			if in.Decode(&c) != nil {
				return
			}
			commands <- c
		}
	}()
	for {
		select {
		case <-g.children:
			if g.reap(); g.exit == nil {
				continue
			}
			g.killAll()
			g.tell(event{Exit: g.exit})
			return
		case c := <-commands:
			g.signal(c.Signal)
			g.tell(event{Acted: true})
		case <-gone:
			g.killAll()
			g.remove()
			if g.exit != nil {
				g.tell(event{Exit: g.exit}) // for a parent that only closed the pipe
			}
			return
		}
	}
}

// stopTime bounds the wait for a program to stop.
const stopTime = 10 * time.Second

// signal sends a signal. What SIGSTOP is for has happened when it returns: each
// thread goes on until it has been told, which takes its time on a busy machine.
func (g *guard) signal(s syscall.Signal) {
	if g.pid == 0 || syscall.Kill(g.pid, s) != nil {
		return
	}
	if s == syscall.SIGCONT {
		g.stopped = false
	}
	if s != syscall.SIGSTOP {
		return
	}
	timer := time.NewTimer(stopTime)
	defer timer.Stop()
	for g.reap(); !g.stopped && g.exit == nil; g.reap() {
		select {
		case <-g.children:
		case <-timer.C:
			return
		}
	}
	if g.exit != nil {
		select { // it is looked at again in keep
		case g.children <- syscall.SIGCHLD:
		default:
		}
	}
}

func (g *guard) begin() error {
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	output := null
	files := []uintptr{uintptr(null), 0, 0}
	if g.spec.Files > 0 {
		output = outputFD
	}
	files[1], files[2] = uintptr(output), uintptr(output)
	for i := 1; i < g.spec.Files; i++ {
		files = append(files, uintptr(outputFD+i))
	}
	for i := range g.spec.Files {
		syscall.CloseOnExec(outputFD + i) // the program gets copies
	}
	g.start = time.Now()
	g.pid, err = syscall.ForkExec(g.spec.Path, append([]string{g.spec.Path}, g.spec.Args...), &syscall.ProcAttr{
		Dir: g.spec.Dir, Env: g.spec.Env, Files: files, Sys: attributes(),
	})
	if err == nil {
		g.group = g.pid
	} else {
		g.pid = 0
	}
	// The end of these files is the end of the program's tree, and not of the guard.
	for i := range g.spec.Files {
		_ = syscall.Close(outputFD + i)
	}
	_ = syscall.Close(null)
	return err
}

// reap waits for every child that has ended, without waiting for one to end. It
// reports false when there are no children any more.
func (g *guard) reap() bool {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG|syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return false
		case pid == 0:
			return true
		case status.Stopped():
			g.stopped = g.stopped || pid == g.pid
		case pid == g.pid:
			g.pid = 0
			g.exit = &Exit{Code: status.ExitStatus(), Elapsed: time.Since(g.start)}
			if status.Signaled() {
				g.exit.Signal = status.Signal()
			}
		}
	}
}

// killAll kills what there is, and waits until there is nothing.
func (g *guard) killAll() {
	for end := time.Now().Add(killTime); time.Now().Before(end); {
		kill(g.group)
		if !g.reap() {
			return
		}
		timer := time.NewTimer(killPause)
		select {
		case <-g.children:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (g *guard) remove() {
	if g.spec.Remove != "" {
		_ = os.RemoveAll(g.spec.Remove) // nobody is left to be told
	}
}

func (g *guard) tell(e event) {
	_ = g.events.Encode(e) // the parent may be gone
}
