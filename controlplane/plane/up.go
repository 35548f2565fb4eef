package plane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/controllings/controllings/controlplane/endpoint"
	"github.com/controllings/controllings/controlplane/files"
	"github.com/controllings/controllings/controlplane/supervise"
)

// UpOptions says what kind of cluster Up is to start.
type UpOptions struct {
	Nodes    int           // simulated nodes
	Timeout  time.Duration // for all of it
	Progress io.Writer     // lines for a person
	// Kubernetes is this program's version. A cluster of another one, started
	// before this program was built, is started anew.
	Kubernetes string
}

// recovery is how long Up gives a running cluster that is not well.
const recovery = 20 * time.Second

// SuperviseCommand is the hidden command by which this program becomes the
// supervisor.
const SuperviseCommand = "supervise"

// Up starts the control plane unless it is up, and returns when the cluster is
// usable. Two at once give one cluster: the second waits for the first. When
// ctx ends before that, what was started is taken down.
func (d Dir) Up(ctx context.Context, o UpOptions) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout+10*time.Second, fmt.Errorf("not ready within %s", o.Timeout))
	defer cancel()
	if err := files.MkdirAll(string(d)); err != nil {
		return explain(fmt.Errorf("make folder: %w", err))
	}
	waiting := false
	var unwell time.Time // since when something is wrong that may mend itself
	for {
		lock, err := supervise.TryLock(d.lockFile())
		if err == nil {
			return d.start(ctx, lock, o)
		}
		if !errors.Is(err, supervise.ErrLocked) {
			return explain(err)
		}
		st := d.Status(ctx)
		switch {
		case st.State == Up && st.Kubernetes == o.Kubernetes:
			return nil
		case st.State == Up || st.broken:
			why := st.Reason
			if !st.broken {
				why = "it is Kubernetes " + st.Kubernetes
			}
			fmt.Fprintf(o.Progress, "%s: starting the control plane anew\n", why)
			if err := d.Down(ctx); err != nil {
				return err
			}
			continue
		case st.stopped:
			fmt.Fprintf(o.Progress, "%s: starting it again\n", st.Reason)
			err := d.restore(ctx, o.Progress)
			if err == nil {
				continue
			}
			var known *endpoint.Error
			if !errors.As(err, &known) || known.Code != http.StatusServiceUnavailable {
				return err
			}
			// It was taken down in this moment: look again.
		case st.State == Down:
			// Whoever held the lock has let go, or only looked: try again.
		case st.phase == phaseReady:
			// A component is being restarted, or the API server has trouble.
			if unwell.IsZero() {
				unwell = time.Now()
				fmt.Fprintf(o.Progress, "%s: waiting for it to recover\n", st.Reason)
			}
			if time.Since(unwell) > recovery {
				fmt.Fprintf(o.Progress, "%s: starting the control plane anew\n", st.Reason)
				unwell = time.Time{}
				if err := d.Down(ctx); err != nil {
					return err
				}
			}
		case !waiting:
			fmt.Fprintln(o.Progress, "another command is starting or stopping this cluster: waiting for it")
			waiting = true
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the cluster: %w", context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// start runs the supervisor, which takes over the lock, and waits until it says
// that the cluster is ready, or why it is not.
func (d Dir) start(ctx context.Context, lock *supervise.Lock, o UpOptions) error {
	defer lock.Close()
	// What an earlier run left that did not end by itself.
	d.tidy()
	if err := d.make(); err != nil {
		return err
	}
	starterR, starterW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open pipe: %w", err)
	}
	defer starterW.Close()
	reportR, reportW, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("open pipe: %w", err)
	}
	defer reportR.Close()
	logFile, err := os.OpenFile(d.Log(SupervisorName), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, files.FileMode)
	if err != nil {
		return explain(fmt.Errorf("open log: %w", err))
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, SuperviseCommand, "--dir", string(d),
		"--nodes", strconv.Itoa(o.Nodes), "--timeout", o.Timeout.String())
	cmd.Dir = string(d)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.ExtraFiles = []*os.File{lock.File(), starterR, reportW} // fdLock, fdStarter, fdReport
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}        // no terminal's Ctrl-C
	fmt.Fprintf(o.Progress, "starting the control plane in %s\n", d)
	err = cmd.Start()
	for _, f := range []*os.File{starterR, reportW, logFile} {
		_ = f.Close()
	}
	if err != nil {
		return fmt.Errorf("start supervisor: %w", err)
	}
	_ = lock.Close() // it is the supervisor's now

	var last message
	told := make(chan struct{})
	go func() {
		defer close(told)
		receive(reportR, func(m message) {
			if m.Say != "" {
				fmt.Fprintln(o.Progress, m.Say)
			}
			last = m
			if m.Ready {
				_ = reportR.Close() // nothing more to wait for
			}
		})
	}()
	select {
	case <-told:
	case <-ctx.Done():
		_ = starterW.Close() // it takes down what it started
		select {
		case <-told:
		case <-time.After(grace + etcdGrace + 4*time.Second):
			_ = cmd.Process.Kill() // its children follow
		}
		_ = cmd.Wait()
		return fmt.Errorf("start the control plane: %w; nothing is left running", context.Cause(ctx))
	}
	if last.Ready {
		return cmd.Process.Release()
	}
	waitErr := cmd.Wait()
	if last.Error != "" {
		return withHint(errors.New(last.Error), last.Hint)
	}
	if waitErr == nil {
		waitErr = errors.New("exit status 0")
	}
	return withHint(fmt.Errorf("the supervisor died: %w", waitErr), "its log is "+d.Log(SupervisorName))
}
