package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/controllings/controllings/runner/internal/hint"
)

// existing is a cluster that somebody else runs. The user names it twice, file
// and context, and nothing is guessed: whoever has a production cluster in their
// kubeconfig must be able to take the course beside it.
//
// What the course makes there are namespaces, cluster roles and custom types, all
// with the testbed's label. Which clusters were used is kept in dir, a folder
// each, before anything is made on them, so that Down finds all of them whatever
// LAB_CONTEXT says by then.
type existing struct {
	o     Options
	guest guest
}

func newExisting(o Options) *existing { return &existing{o: o, guest: newGuest(o)} }

// Name implements Provider.
func (e *existing) Name() string { return "existing" }

// Guest implements Guest.
func (e *existing) Guest() {}

func (e *existing) dir() string { return filepath.Join(e.o.Home, "clusters", "existing") }

// Kubeconfig implements Provider.
func (e *existing) Kubeconfig() string { return filepath.Join(e.o.Home, "kubeconfig") }

// Chosen implements Chooser.
func (e *existing) Chosen() error {
	_, err := chooseFromEnv()
	return err
}

// Up implements Provider. Until the user has named a context it sends no request
// and writes no file, and it makes nothing on the cluster: checks do.
func (e *existing) Up(ctx context.Context) error {
	c, err := chooseFromEnv()
	if err != nil {
		return err
	}
	m := e.memory(c)
	if m.unchanged(c) && e.answers(ctx, m) {
		return e.publish(c.kubeconfig)
	}
	if err := mkdir(e.dir()); err != nil {
		return err
	}
	if err := e.admit(ctx, c, m); err != nil {
		return err
	}
	return e.publish(c.kubeconfig)
}

// answers reports whether the API server is certainly there: a learner's every
// run asks.
func (e *existing) answers(ctx context.Context, m *memory) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return Probe(ctx, m.kubeconfig()) == nil
}

// admit asks whether the course can work on the cluster, remembers it, and says
// what will be made there.
func (e *existing) admit(ctx context.Context, c *choice, m *memory) error {
	if err := e.guest.build(ctx); err != nil {
		return err
	}
	candidate, err := tempFile(e.dir(), c.kubeconfig)
	if err != nil {
		return err
	}
	defer os.Remove(candidate)
	types := courseTypes(e.o.Root)
	answer, err := e.guest.check(ctx, candidate, types)
	if err != nil {
		return wrapContext(c, err)
	}
	if len(answer.Missing) > 0 {
		return hint.New("let an administrator of the cluster grant them (save this as a file, kubectl apply -f it, then kubectl create clusterrolebinding controllings --clusterrole=controllings --user=NAME), or name another context:\n"+strings.TrimSpace(answer.Role),
			"context %q at %s: its user lacks rights that the checks need, so nothing was made:\n  %s", c.context, c.server, strings.Join(answer.Missing, "\n  "))
	}
	m.about.Kubernetes = answer.Kubernetes
	if err := m.save(c); err != nil {
		return err
	}
	e.announce(c, answer, types)
	return nil
}

// announce says what will be made, before any of it is.
func (e *existing) announce(c *choice, answer *checked, types []string) {
	say := func(format string, args ...any) { fmt.Fprintf(e.o.Status, format+"\n", args...) }
	made := "custom types in *" + groupSuffix
	if len(types) > 0 {
		made = "custom types (" + strings.Join(types, ", ") + ")"
	}
	say("using context %q at %s: will create namespaces, cluster roles and %s, all labelled %s; make cluster-down removes them", c.context, c.server, made, ownerLabel)
	if answer.Old != "" {
		say("warning: Kubernetes %s is older than %s: the lessons are about newer ones, and a check may fail for that alone", answer.Kubernetes, answer.Old)
	}
	for _, t := range answer.Foreign {
		say("warning: there is a type %s that the course did not make: it stays as it is, and the chapter that needs its own can't run here", t)
	}
}

// publish makes a kubeconfig the current one.
func (e *existing) publish(kubeconfig []byte) error {
	return makeCurrent(e.Kubeconfig(), kubeconfig)
}

// Down implements Provider: it clears every cluster that was used, whichever
// LAB_CONTEXT names, and forgets those that are as they were before.
func (e *existing) Down(ctx context.Context) error {
	used, err := e.memories()
	if err != nil || len(used) == 0 {
		return err
	}
	if err := e.guest.build(ctx); err != nil {
		return err
	}
	var errs []error
	for _, m := range used {
		if err := e.leave(ctx, m); err != nil {
			errs = append(errs, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// leave clears one cluster.
func (e *existing) leave(ctx context.Context, m *memory) error {
	current := e.isCurrent(m)
	if fresh := m.renew(); fresh != nil && current {
		if err := e.publish(fresh); err != nil {
			return err
		}
	}
	fmt.Fprintf(e.o.Status, "leaving context %q at %s\n", m.about.Context, m.about.Server)
	answer, err := e.guest.clean(ctx, m.kubeconfig(), e.o.Home)
	if err != nil {
		next := hint.Of(err)
		if next != "" {
			next += "\n"
		}
		return hint.New(next+"if that cluster is gone for good, forget it: rm -r '"+m.dir+"'",
			"leave context %q at %s: %w", m.about.Context, m.about.Server, err)
	}
	if len(answer.Shared) > 0 {
		fmt.Fprintf(e.o.Status, "left alone, others use it just now: %s\n", strings.Join(answer.Shared, ", "))
	}
	if len(answer.Held) > 0 {
		return hint.New("delete or move those objects, then run it again",
			"leave context %q at %s: left on the cluster:\n  %s", m.about.Context, m.about.Server, strings.Join(answer.Held, "\n  "))
	}
	if current {
		if err := os.Remove(e.Kubeconfig()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return explain(fmt.Errorf("forget the cluster: %w", err))
		}
	}
	return m.forget()
}

// isCurrent reports whether a remembered cluster's kubeconfig is the current one.
func (e *existing) isCurrent(m *memory) bool {
	own, err := os.ReadFile(m.kubeconfig())
	if err != nil {
		return false
	}
	current, err := os.ReadFile(e.Kubeconfig())
	return err == nil && bytes.Equal(own, current)
}

// Status implements Provider. Up means that the course uses the cluster and that
// it answers; a cluster that the course doesn't use is down, whatever it does.
func (e *existing) Status(ctx context.Context) (State, error) {
	st := State{Provider: e.Name(), State: Down}
	used, err := e.memories()
	if err != nil {
		return st, err
	}
	for _, m := range used {
		if named := os.Getenv(contextVar); named != "" && named != m.about.Context || !e.isCurrent(m) {
			continue
		}
		st.State, st.Server, st.Kubernetes = Up, m.about.Server, m.about.Kubernetes
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := Probe(ctx, m.kubeconfig()); err != nil {
			st.State, st.Reason = Degraded, err.Error()
			return st, nil
		}
		// It may have been upgraded since; not everybody may ask.
		if v := serverVersion(ctx, m.kubeconfig()); v != "" {
			st.Kubernetes = v
		}
		return st, nil
	}
	st.Reason = "the course uses no cluster of somebody else's; " + contextVar + " names one, and make cluster-up looks at it"
	return st, nil
}

// serverVersion asks an API server for its version. "" when it doesn't say.
func serverVersion(ctx context.Context, kubeconfig string) string {
	a, err := ask(ctx, kubeconfig, "/version")
	if err != nil {
		return ""
	}
	var v struct{ GitVersion string }
	if a.status != http.StatusOK || json.Unmarshal(a.body, &v) != nil {
		return ""
	}
	return v.GitVersion
}

// Kubectl implements Kubectl, with the user's own.
func (e *existing) Kubectl(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if _, err := os.Stat(e.Kubeconfig()); err != nil {
		return hint.New("run make cluster-up", "run kubectl: no cluster is up")
	}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		return hint.New("install it (https://kubernetes.io/docs/tasks/tools/), or use any other client with KUBECONFIG="+e.Kubeconfig(),
			"run kubectl: with CLUSTER=existing it is your own that runs, and there is none on PATH")
	}
	return runKubectl(exec.CommandContext(ctx, kubectl, args...), e.Kubeconfig(), stdin, stdout, stderr)
}
