package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"

	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/lock"
)

// kind is a cluster in Docker containers, made by the library behind the kind
// command. Kubernetes and its kubelets are real there: Pods run.
//
// Which cluster is ours is kept in dir, before anything of it is made. A cluster
// of our name without that record is somebody else's and stays as it is.
type kind struct {
	o      Options
	docker docker
}

// clusterVar names another cluster than kindName, for a second checkout or a
// second LAB_HOME on one machine.
const (
	clusterVar = "LAB_KIND_CLUSTER"
	kindName   = "controllings" // as in kind-config.yaml
)

// How long a cluster may take until its nodes are ready: when it is made, and
// when its containers are started again.
const (
	kindReady   = 4 * time.Minute
	kindRestart = 90 * time.Second
)

func newKind(o Options) *kind { return &kind{o: o} }

// Name implements Provider.
func (k *kind) Name() string { return "kind" }

func (k *kind) dir() string    { return filepath.Join(k.o.Home, "clusters", "kind") }
func (k *kind) own() string    { return filepath.Join(k.dir(), "kubeconfig") }
func (k *kind) record() string { return filepath.Join(k.dir(), "cluster.json") }

// Kubeconfig implements Provider.
func (k *kind) Kubeconfig() string { return filepath.Join(k.o.Home, "kubeconfig") }

// kindRecord is what is kept of our cluster.
type kindRecord struct {
	Name  string `json:"name"`
	Image string `json:"image"`
	// Made says that it was ready once. Until then it is half of one.
	Made bool `json:"made"`
}

// wanted is the name that a new cluster gets.
func wanted() string {
	if name := os.Getenv(clusterVar); name != "" {
		return name
	}
	return kindName
}

// ours is the record, and nil where there is none.
func (k *kind) ours() (*kindRecord, error) {
	data, err := os.ReadFile(k.record())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is kept of the kind cluster: %w", err)
	}
	var r kindRecord
	if err := json.Unmarshal(data, &r); err != nil || r.Name == "" {
		return nil, hint.New("remove it, and the cluster by: kind delete cluster --name "+wanted(), "%s is damaged", k.record())
	}
	return &r, nil
}

func (k *kind) keep(r *kindRecord) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return writeFile(k.record(), append(data, '\n'))
}

// Up implements Provider.
func (k *kind) Up(ctx context.Context) error {
	if up, err := k.isUp(ctx); err != nil || up {
		return err
	}
	held, err := k.lock(ctx)
	if err != nil {
		return err
	}
	defer held.Close()
	if up, err := k.isUp(ctx); err != nil || up {
		return err // whom we waited for has made it
	}
	r, err := k.ours()
	if err != nil {
		return err
	}
	engine, err := k.docker.info(ctx)
	if err != nil {
		return err
	}
	if r != nil {
		mended, err := k.mend(ctx, r)
		if err != nil {
			return err
		}
		if mended {
			return k.publish()
		}
	}
	return k.create(ctx, engine)
}

// isUp reports whether our cluster is up, and has then made it the current one.
func (k *kind) isUp(ctx context.Context) (bool, error) {
	r, err := k.ours()
	if err != nil || r == nil || !r.Made || !k.answers(ctx) {
		return false, err
	}
	return true, k.publish()
}

// lock lets one command at a time make or remove the cluster: to another, what is
// half made looks like what a kill left.
func (k *kind) lock(ctx context.Context) (*os.File, error) {
	if err := mkdir(k.dir()); err != nil {
		return nil, err
	}
	held, err := lock.Wait(ctx, k.dir()+".lock", func() {
		fmt.Fprintln(k.o.Status, "another command is making or removing the kind cluster: waiting for it")
	})
	if err != nil {
		return nil, explain(err)
	}
	return held, nil
}

// answers reports whether our API server is certainly there, without asking
// Docker: a learner's every run asks.
func (k *kind) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return Probe(ctx, k.own()) == nil
}

// mend starts what is stopped of our cluster. It reports false when there is no
// whole cluster to start, and has then removed what there was.
func (k *kind) mend(ctx context.Context, r *kindRecord) (bool, error) {
	nodes, err := k.docker.nodes(ctx, r.Name)
	if err != nil {
		return false, err
	}
	if r.Made && len(nodes) > 0 {
		var stopped []string
		for _, n := range nodes {
			if !n.running() {
				stopped = append(stopped, n.Names)
			}
		}
		if len(stopped) > 0 {
			fmt.Fprintf(k.o.Status, "starting the cluster's containers again: %s\n", joined(stopped))
			if err := k.docker.start(ctx, stopped...); err != nil {
				fmt.Fprintf(k.o.Status, "they don't start: %v\n", err)
			}
		}
		if k.serves(ctx, kindRestart) && k.settled(ctx, kindRestart) {
			return true, nil
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		fmt.Fprintf(k.o.Status, "the cluster does not come back within %s: making it anew\n", kindRestart)
	}
	return false, k.remove(r)
}

// serves waits until the API server says that it is ready.
func (k *kind) serves(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		if k.answers(ctx) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// remove removes our cluster's containers, and then what is kept of it.
func (k *kind) remove(r *kindRecord) error {
	if err := k.delete(r.Name); err != nil {
		return explainKind(fmt.Sprintf("remove the kind cluster %q", r.Name), err)
	}
	return os.RemoveAll(k.dir())
}

func (k *kind) delete(name string) error {
	return cluster.NewProvider(cluster.ProviderWithDocker()).Delete(name, k.scratch())
}

// scratch is a kubeconfig for the library to edit: it writes to ~/.kube otherwise.
func (k *kind) scratch() string { return filepath.Join(k.dir(), "scratch.kubeconfig") }

// publish makes this cluster's kubeconfig the current one.
func (k *kind) publish() error {
	data, err := os.ReadFile(k.own())
	if err != nil {
		return fmt.Errorf("read the cluster's kubeconfig: %w", err)
	}
	return makeCurrent(k.Kubeconfig(), data)
}

// Down implements Provider.
func (k *kind) Down(ctx context.Context) error {
	r, err := k.ours()
	if err != nil || r == nil {
		return err
	}
	held, err := k.lock(ctx)
	if err != nil {
		return err
	}
	defer held.Close()
	if r, err = k.ours(); err != nil || r == nil {
		return err
	}
	if _, err := k.docker.info(ctx); err != nil {
		return err
	}
	own, _ := os.ReadFile(k.own())
	if err := k.remove(r); err != nil {
		return err
	}
	// Another provider's kubeconfig may be the current one by now.
	if current, err := os.ReadFile(k.Kubeconfig()); err == nil && len(own) > 0 && bytes.Equal(own, current) {
		return os.Remove(k.Kubeconfig())
	}
	return nil
}

// Status implements Provider.
func (k *kind) Status(ctx context.Context) (State, error) {
	st := State{Provider: k.Name(), State: Down}
	r, err := k.ours()
	if err != nil || r == nil {
		return st, err
	}
	nodes, err := k.docker.nodes(ctx, r.Name)
	if err != nil {
		return st, err
	}
	if len(nodes) == 0 {
		return st, nil
	}
	st.State = Degraded
	for _, n := range nodes {
		c := Component{Name: n.Names, State: "running"}
		if !n.running() {
			c.State, c.Exit = "stopped", n.Status
			st.Reason = n.Names + " does not run; make cluster-up starts it again"
		}
		st.Components = append(st.Components, c)
	}
	if !r.Made {
		st.Reason = "it was not finished; make cluster-up makes it anew"
	}
	if t, err := readTarget(k.own()); err == nil {
		st.Server = t.server
	}
	if st.Reason != "" {
		return st, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := Probe(ctx, k.own()); err != nil {
		st.Reason = err.Error()
		return st, nil
	}
	st.State, st.Kubernetes = Up, serverVersion(ctx, k.own())
	return st, nil
}
