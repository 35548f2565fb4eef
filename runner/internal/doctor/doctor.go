// Package doctor looks at the machine: is all there that the course needs, and
// what mends it where it is not. It changes nothing; what it writes to try a
// folder out is removed at once.
package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/controllings/controllings/runner/internal/cluster"
)

// Options says what is looked at.
type Options struct {
	// Root is the course's checkout, Home is LAB_HOME. Both are absolute.
	Root, Home string
	// Cluster is the provider that CLUSTER names.
	Cluster cluster.Provider
}

// Status is how a check went.
type Status string

// The values of Status. A warning is something to know about: what is needed
// works without it.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Failed  Status = "failed"
)

// Finding is the outcome of one check.
type Finding struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	// Mend says what to do. Never empty unless Status is OK.
	Mend string `json:"mend,omitempty"`
}

// Report is the outcome of all checks, in a fixed order.
type Report struct {
	Version int       `json:"version"` // of this format: 1
	OK      bool      `json:"ok"`      // nothing has failed
	Checks  []Finding `json:"checks"`
}

func ok(format string, args ...any) Finding {
	return Finding{Status: OK, Found: fmt.Sprintf(format, args...)}
}

func warn(mend, format string, args ...any) Finding {
	return Finding{Status: Warning, Found: fmt.Sprintf(format, args...), Mend: mend}
}

func failed(mend, format string, args ...any) Finding {
	return Finding{Status: Failed, Found: fmt.Sprintf(format, args...), Mend: mend}
}

// check is one look at the machine.
type check struct {
	name  string
	limit time.Duration
	look  func(context.Context, Options) Finding
	// slow is what it means that the limit has passed.
	slow Finding
}

// stuck is what a check that answers in no time tells: something hangs that
// should not.
var stuck = failed("try it by hand; a disk or a network folder that hangs does this", "no answer")

func checks(o Options) []check {
	list := []check{
		{"go", 10 * time.Second, goVersion, stuck},
		{"go settings", 10 * time.Second, goSettings, stuck},
		{"git", 5 * time.Second, git, stuck},
		{"C compiler", 10 * time.Second, compiler, warn("try it by hand: $(go env CC) --version", "no answer")},
		{"checkout", 5 * time.Second, checkout, stuck},
		{"LAB_HOME", 5 * time.Second, home, stuck},
		{"disk", 10 * time.Second, disk, stuck},
		{"memory", 5 * time.Second, memory, stuck},
		{"limits", 5 * time.Second, limits, stuck},
		{"loopback", 5 * time.Second, loopback, failed("a firewall that drops packets on 127.0.0.1 does this: allow loopback traffic", "a connection to 127.0.0.1 gets no answer")},
		{"http proxy", 5 * time.Second, httpProxy, stuck},
		{"modules", 15 * time.Second, modules, stuck},
		{"clock", 10 * time.Second, clock, stuck},
	}
	if o.Cluster.Name() == "kind" {
		list = append(list, check{"docker", 10 * time.Second, docker, failed("restart Docker, then see: docker info", "docker info gives no answer")})
	}
	return append(list, check{"cluster", 20 * time.Second, clusterState, warn("make cluster-down cluster-up", "no answer about its state")})
}

// Run makes every check, all at once, each within its own time limit.
func Run(ctx context.Context, o Options) Report {
	list := checks(o)
	r := Report{Version: 1, OK: true, Checks: make([]Finding, len(list))}
	var wg sync.WaitGroup
	for i, c := range list {
		wg.Go(func() { r.Checks[i] = c.run(ctx, o) })
	}
	wg.Wait()
	for _, f := range r.Checks {
		if f.Status == Failed {
			r.OK = false
		}
	}
	return r
}

// run doesn't wait for a look that heeds no time limit: a system call on a dead
// network disk can't be interrupted.
func (c check) run(ctx context.Context, o Options) Finding {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	found := make(chan Finding, 1)
	go func() { found <- c.look(ctx, o) }()
	var f Finding
	select {
	case f = <-found:
	case <-ctx.Done():
		f = c.slow
		f.Found += fmt.Sprintf(" within %s", c.limit)
	}
	f.Name = c.name
	return f
}

// command runs a program in dir and returns what it printed, trimmed. env is
// added to the user's.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if said := strings.TrimSpace(stderr.String()); said != "" {
			return "", fmt.Errorf("%w: %s", err, said)
		}
		return "", err
	}
	return strings.TrimSpace(stdout.String()), nil
}

// firstLine of what a program said.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
