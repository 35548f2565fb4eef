package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/exec"
	"sigs.k8s.io/kind/pkg/log"

	"github.com/controllings/controllings/runner/internal/hint"
)

// abortTime is how long a call of the library is waited for after it was aborted.
const abortTime = 30 * time.Second

// errStillRunning is what interruptible returns beside the cause when the call could
// not be ended.
var errStillRunning = errors.New("what was begun goes on")

// interruptible runs a call of the library, which knows no context. When ctx ends,
// abort is called over and over until the call has returned: it takes away what
// the call is working on.
func interruptible(ctx context.Context, call func() error, abort func()) error {
	var err error
	done := make(chan struct{})
	go func() { defer close(done); err = call() }()
	select {
	case <-done:
		return err
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	for end := time.After(abortTime); ; {
		abort()
		select {
		case <-done:
			return cause
		case <-end:
			return errors.Join(cause, errStillRunning)
		case <-time.After(time.Second):
		}
	}
}

// kindLogger tells what the library does, in its own words.
type kindLogger struct{ w io.Writer }

func (l kindLogger) Warn(message string)           { l.Info(message) }
func (l kindLogger) Warnf(format string, a ...any) { l.Infof(format, a...) }
func (l kindLogger) Error(message string)          { l.Info(message) }
func (l kindLogger) Errorf(format string, a ...any) {
	l.Infof(format, a...)
}

func (l kindLogger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return l
}

func (l kindLogger) Enabled() bool                 { return true }
func (l kindLogger) Infof(format string, a ...any) { l.Info(fmt.Sprintf(format, a...)) }

func (l kindLogger) Info(message string) {
	if message = strings.TrimSpace(message); message != "" {
		fmt.Fprintln(l.w, message)
	}
}

// kindCauses are what Docker and kind say, and what to do about it.
var kindCauses = []struct{ words, hint string }{
	{"permission denied", "you may not use Docker: join its group (sudo usermod -aG docker $USER, then log in again)"},
	{"cannot connect to the docker daemon", "start Docker (Docker Desktop, or: sudo systemctl start docker), or use the cluster that needs none: CLUSTER=embedded"},
	{"has not answered", "restart Docker, or use the cluster that needs none: CLUSTER=embedded"},
	{"no space left on device", "free some space: docker system df says what Docker holds"},
	{"port is already allocated", "try again: another program took the port in that moment"},
	{"unable to apply caps", "this machine withholds a capability that containers ask for; scripts/ci/docker shows what helps on such a machine"},
	{"too many open files", "raise the limits of inotify: sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"},
}

// explainKind says what failed, shows what the library's failed command printed,
// and adds a hint where the cause is known.
func explainKind(what string, err error) error {
	out := ""
	if run := exec.RunErrorForError(err); run != nil { // before it is wrapped: it follows no %w
		out = lastLines(string(run.Output), 12)
	}
	err = fmt.Errorf("%s: %w", what, err)
	if out != "" {
		err = fmt.Errorf("%w:\n%s", err, out)
	}
	text := strings.ToLower(err.Error())
	for _, c := range kindCauses {
		if strings.Contains(text, c.words) {
			return hint.New(c.hint, "%w", err)
		}
	}
	return err
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
