package judge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/controllings/controllings/todo/channel"
	"github.com/controllings/controllings/todo/guard"
)

type processOptions struct {
	Binary, Dir, Test string
	Limit             time.Duration
	Env               environment
}

type environment struct {
	Kubeconfig, Home string
	Control          string // "" for a check without needs
	Program          string // the answer's own, built; "" if it has none
	Factor           float64
}

// run is what a check's process did.
type run struct {
	Messages []channel.Message
	Flooded  bool // it sent more reports than are read
	Gone     bool // the program to run was no longer there
	Exit     int  // -1 when a signal ended it
	Signal   syscall.Signal
	Unknown  bool // nobody knows how it ended: what watched over it was killed
	TimedOut bool // by the runner or by the test binary itself
	Limit    time.Duration
	Output   string
	Elapsed  time.Duration
}

const (
	// killGrace is how long after its limit a process is killed that did not
	// end itself with a trace.
	killGrace = 2 * time.Second
	// maxReports bounds what a process may send over the channel, in bytes.
	maxReports = 1 << 20
)

// runProcess runs one check and waits for it, whatever it does: it gets its
// limit, then it and all that it started is killed.
func runProcess(ctx context.Context, o processOptions) (*run, error) {
	private, err := privateFolder("lab-check-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(private)
	wire, err := channel.New()
	if err != nil {
		return nil, err
	}
	defer wire.Close()
	said, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for the check's output: %w", err)
	}
	defer said.Close()
	process, err := guard.Start(guard.Options{
		Path: o.Binary,
		Args: []string{
			"-test.run=^" + o.Test + "$", "-test.count=1", "-test.timeout=" + o.Limit.String(),
			"-test.paniconexit0", // an os.Exit(0) in the middle then shows its own line
		},
		Dir:    o.Dir,
		Env:    append(o.Env.list(os.Environ(), private), wire.Env(guard.FirstInherited)...),
		Output: theirs, Inherit: wire.Files(), Remove: private,
	})
	wire.Started()
	theirs.Close()
	if err != nil {
		// It was there a moment ago: an answer may have removed its own folder.
		if _, gone := os.Stat(o.Binary); errors.Is(gone, os.ErrNotExist) {
			return &run{Gone: true, Exit: -1}, nil
		}
		return nil, fmt.Errorf("start check %s: %w", o.Test, err)
	}
	defer process.Close()

	output := &guard.Output{Head: keepHead, Tail: keepTail}
	copied := make(chan struct{})
	go func() { defer close(copied); _, _ = io.Copy(output, said) }()
	type received struct {
		messages []channel.Message
		err      error
	}
	read := make(chan received, 1)
	go func() {
		m, err := wire.Read(maxReports)
		if errors.Is(err, channel.ErrTooLong) {
			wire.Drain()
		}
		read <- received{m, err}
	}()

	killed := false
	limit := time.NewTimer(o.Limit + killGrace)
	defer limit.Stop()
	select {
	case <-process.Ended():
	case <-limit.C:
		killed = true
		process.Close()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	// Where a process can get away from its guard, it has no say any more.
	wire.Cut(time.Second)
	_ = said.SetReadDeadline(time.Now().Add(time.Second))
	got := <-read
	<-copied

	exit, known := process.Exit() // where nobody knows, its code is none that passes
	r := &run{
		Messages: got.messages,
		Flooded:  errors.Is(got.err, channel.ErrTooLong),
		Exit:     exit.Code,
		Signal:   exit.Signal,
		Unknown:  !known,
		Limit:    o.Limit,
		Output:   output.String(),
		Elapsed:  exit.Elapsed,
	}
	// The test binary says so too, in a line that a flood of output may bury.
	r.TimedOut = killed || exit.Elapsed >= o.Limit || strings.Contains(r.Output, "panic: test timed out after ")
	return r, nil
}

// privateFolder makes a folder with a home and a place for temporary files.
func privateFolder(pattern string) (string, error) {
	private, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", fmt.Errorf("make a folder for the check: %w", err)
	}
	for _, d := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(private, d), 0o700); err != nil {
			return "", errors.Join(fmt.Errorf("make a folder for the check: %w", err), os.RemoveAll(private))
		}
	}
	return private, nil
}

// list is the environment of a check: the user's, without what could lead it to
// another cluster or into the user's home, and without what a CI service lays
// there for its own steps: tokens, and the files that later steps are told by.
func (e environment) list(env []string, private string) []string {
	var kept []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "KUBECONFIG", name == "HOME", name == "TMPDIR", name == "PWD",
			strings.HasPrefix(name, "KUBERNETES_SERVICE_"), strings.HasPrefix(name, "LAB_"),
			strings.HasPrefix(name, "XDG_"), name == "GOTRACEBACK", name == "GORACE",
			strings.HasPrefix(name, "GITHUB_"), strings.HasPrefix(name, "ACTIONS_"), strings.HasPrefix(name, "RUNNER_"),
			strings.HasPrefix(name, "CI_"), strings.Contains(name, "TOKEN"), strings.Contains(name, "SECRET"), strings.Contains(name, "PASSWORD"):
		default:
			kept = append(kept, v)
		}
	}
	if e.Control != "" {
		kept = append(kept, "LAB_CONTROL="+e.Control)
	}
	if e.Program != "" {
		kept = append(kept, "LAB_MANAGER="+e.Program)
	}
	return append(kept,
		"HOME="+filepath.Join(private, "home"),
		"TMPDIR="+filepath.Join(private, "tmp"),
		"GOTRACEBACK=single",
		"LAB_KUBECONFIG="+e.Kubeconfig,
		"LAB_HOME="+e.Home,
		"LAB_TIME_FACTOR="+strconv.FormatFloat(e.Factor, 'g', -1, 64),
	)
}

// ownGroup gives a child a process group of its own: it does not see the
// terminal's Ctrl-C, and killGroup reaches all of it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
