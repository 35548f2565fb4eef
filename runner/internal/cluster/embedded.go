package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/controllings/controllings/runner/internal/hint"
)

// embedded is the cluster that the course brings with it: bin/controlplane.
type embedded struct {
	o     Options
	build builder
}

func newEmbedded(o Options) *embedded {
	return &embedded{o: o, build: newBuilder(o)}
}

// Name implements Provider.
func (e *embedded) Name() string { return "embedded" }

// dir holds all of the control plane.
func (e *embedded) dir() string { return filepath.Join(e.o.Home, "clusters", "embedded") }

// own is the kubeconfig in dir; Kubeconfig is a copy of it.
func (e *embedded) own() string { return filepath.Join(e.dir(), "kubeconfig") }

// Kubeconfig implements Provider.
func (e *embedded) Kubeconfig() string { return filepath.Join(e.o.Home, "kubeconfig") }

// Up implements Provider.
func (e *embedded) Up(ctx context.Context) error {
	if err := mkdir(e.o.Home); err != nil {
		return err
	}
	if err := e.build.ensure(ctx); err != nil {
		return err
	}
	if !e.running(ctx) {
		args := []string{"up", "--dir", e.dir()}
		if t := os.Getenv("LAB_START_TIMEOUT"); t != "" {
			args = append(args, "--timeout", t)
		}
		if err := e.run(ctx, args, nil, io.Discard, e.o.Status); err != nil {
			return err // the control plane's own words: they say what was started
		}
	}
	return e.publish()
}

// running reports whether the cluster is certainly up, without starting a
// process: a learner's every run asks. The supervisor says that all is well,
// and the API server, shown by its certificate to be this cluster's, that it is
// ready. In doubt the answer is no, and "controlplane up" looks closer.
func (e *embedded) running(ctx context.Context) bool {
	data, err := os.ReadFile(filepath.Join(e.dir(), "state"))
	if err != nil {
		return false
	}
	var s struct {
		Phase      string
		Components []Component
	}
	if json.Unmarshal(data, &s) != nil || s.Phase != "ready" || len(s.Components) == 0 {
		return false
	}
	for _, c := range s.Components {
		if c.State != "running" {
			return false
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return Probe(ctx, e.own()) == nil
}

// publish makes this cluster's kubeconfig the current one.
func (e *embedded) publish() error {
	data, err := os.ReadFile(e.own())
	if err != nil {
		return fmt.Errorf("read the cluster's kubeconfig: %w", err)
	}
	return makeCurrent(e.Kubeconfig(), data)
}

// Down implements Provider.
func (e *embedded) Down(ctx context.Context) error {
	if _, err := os.Stat(e.dir()); errors.Is(err, os.ErrNotExist) {
		return nil // never started
	}
	if err := e.built(); err != nil {
		return err
	}
	if err := e.run(ctx, []string{"down", "--dir", e.dir()}, nil, io.Discard, e.o.Status); err != nil {
		return fmt.Errorf("stop the cluster: %w", err)
	}
	// Another provider's kubeconfig may be the current one by now.
	own, err := os.ReadFile(e.own())
	if err != nil {
		return nil
	}
	if current, err := os.ReadFile(e.Kubeconfig()); err == nil && bytes.Equal(own, current) {
		return os.Remove(e.Kubeconfig())
	}
	return nil
}

// Status implements Provider.
func (e *embedded) Status(ctx context.Context) (State, error) {
	st := State{Provider: e.Name(), State: Down}
	if e.built() != nil {
		return st, nil
	}
	var out, errs bytes.Buffer
	err := e.run(ctx, []string{"status", "--json", "--dir", e.dir()}, nil, &out, &errs)
	// Down and degraded are exit statuses too; what counts is the answer.
	var answer struct {
		State, Reason, Kubernetes, Server string
		Components                        []Component
	}
	if jsonErr := json.Unmarshal(out.Bytes(), &answer); jsonErr != nil {
		return st, fmt.Errorf("ask the cluster how it is: %w", errors.Join(err, jsonErr))
	}
	st.State, st.Reason, st.Kubernetes = answer.State, answer.Reason, answer.Kubernetes
	st.Server, st.Components = answer.Server, answer.Components
	return st, nil
}

// Logs implements Logger.
func (e *embedded) Logs(ctx context.Context, w io.Writer, component string, follow bool) error {
	if err := e.built(); err != nil {
		return err
	}
	args := []string{"logs", "--dir", e.dir()}
	if follow {
		args = append(args, "-f")
	}
	if component != "" {
		args = append(args, "--", component)
	}
	err := e.run(ctx, args, nil, w, io.Discard)
	if ctx.Err() != nil {
		return nil // whoever followed has seen enough
	}
	return err
}

// Kubectl implements Kubectl.
func (e *embedded) Kubectl(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := e.built(); err != nil {
		return err
	}
	if _, err := os.Stat(e.Kubeconfig()); err != nil {
		return hint.New("run make cluster-up", "run kubectl: no cluster is up")
	}
	cmd := exec.CommandContext(ctx, e.build.binary(), append([]string{"kubectl"}, args...)...)
	return runKubectl(cmd, e.Kubeconfig(), stdin, stdout, stderr)
}

// runKubectl runs a kubectl on the cluster of the kubeconfig.
func runKubectl(cmd *exec.Cmd, kubeconfig string, stdin io.Reader, stdout, stderr io.Writer) error {
	// Interactive commands want the terminal, so it stays in this group.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd.Run()
}

// built says what to do when the binary is not there.
func (e *embedded) built() error {
	if _, err := os.Stat(e.build.binary()); err != nil {
		return hint.New("run make cluster-up: it builds it", "the control plane is not built")
	}
	return nil
}

// run runs bin/controlplane. What it prints goes to stderr as it comes, but for
// its "error:" and "hint:" lines, which become the error.
func (e *embedded) run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, e.build.binary(), args...)
	verdict := &verdictWriter{next: stderr}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, verdict
	// A terminal's Ctrl-C is for us; we pass it on, and wait until it is done.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	err := cmd.Run()
	verdict.flush()
	switch {
	case err == nil:
		return nil
	case verdict.err != "":
		return hint.New(verdict.hint, "%s", verdict.err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}
