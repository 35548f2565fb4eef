package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"

	"github.com/controllings/controllings/runner/internal/hint"
)

// kindComponents are those whose logs can be asked for, in their order.
var kindComponents = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"}

// Logs implements Logger: the last lines of the control plane's components.
func (k *kind) Logs(ctx context.Context, w io.Writer, component string, follow bool) error {
	plane, err := k.controlPlane(ctx)
	if err != nil {
		return err
	}
	names := kindComponents
	if component != "" {
		names = nil
		for _, c := range kindComponents {
			if c == component {
				names = []string{c}
			}
		}
		if names == nil {
			return hint.New("there are: "+joined(kindComponents), "no component %q", component)
		}
	}
	if follow && len(names) > 1 {
		return hint.New("name one of: "+joined(kindComponents), "of a kind cluster only one log can be followed at a time")
	}
	for _, name := range names {
		more := ""
		if follow {
			more = " -f"
		}
		script := "tail -n 40" + more + " /var/log/pods/kube-system_" + name + "-*/*/*.log"
		if name == "kubelet" {
			script = "journalctl --no-pager -n 40" + more + " -u kubelet"
		}
		if len(names) > 1 {
			fmt.Fprintf(w, "==> %s <==\n", name)
		}
		cmd := k.docker.command(ctx, "exec", plane, "sh", "-c", script)
		cmd.Stdout, cmd.Stderr = w, w
		if err := cmd.Run(); err != nil && ctx.Err() == nil {
			return fmt.Errorf("read the log of %s: %w", name, err)
		}
	}
	return nil
}

// Load implements Loader.
func (k *kind) Load(ctx context.Context, image string) error {
	r, err := k.ours()
	if err != nil {
		return err
	}
	if r == nil {
		return hint.New("run CLUSTER=kind make cluster-up", "there is no kind cluster of the course's")
	}
	nodes, err := cluster.NewProvider(cluster.ProviderWithDocker()).ListInternalNodes(r.Name)
	if err != nil {
		return explainKind("list the cluster's nodes", err)
	}
	if err := mkdir(k.dir()); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(k.dir(), "load-")
	if err != nil {
		return explain(fmt.Errorf("load image %s: %w", image, err))
	}
	defer os.RemoveAll(dir)
	archive := filepath.Join(dir, "image.tar")
	if _, err := k.docker.run(ctx, "save", "--output", archive, image); err != nil {
		return explainKind("load image "+image, err)
	}
	for _, n := range nodes {
		f, err := os.Open(archive)
		if err != nil {
			return fmt.Errorf("load image %s: %w", image, err)
		}
		err = nodeutils.LoadImageArchive(n, f)
		_ = f.Close()
		if err != nil {
			return explainKind(fmt.Sprintf("load image %s into %s", image, n), err)
		}
	}
	return nil
}

// controlPlane is the container of the control plane.
func (k *kind) controlPlane(ctx context.Context) (string, error) {
	r, err := k.ours()
	if err != nil {
		return "", err
	}
	if r == nil {
		return "", hint.New("run CLUSTER=kind make cluster-up", "there is no kind cluster of the course's")
	}
	nodes, err := k.docker.nodes(ctx, r.Name)
	if err != nil {
		return "", err
	}
	for _, n := range nodes {
		if strings.HasSuffix(n.Names, "-control-plane") && n.running() {
			return n.Names, nil
		}
	}
	return "", hint.New("run CLUSTER=kind make cluster-up: it starts it again", "the control plane of kind cluster %q does not run", r.Name)
}

// Kubectl implements Kubectl, with the course's own where that is built, else
// with the user's, else with the node's, which sees no files of this machine.
func (k *kind) Kubectl(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if _, err := os.Stat(k.own()); err != nil {
		return hint.New("run CLUSTER=kind make cluster-up", "run kubectl: no cluster is up")
	}
	if own := filepath.Join(k.o.Root, "bin", "controlplane"); isFile(own) {
		return runKubectl(exec.CommandContext(ctx, own, append([]string{"kubectl"}, args...)...), k.own(), stdin, stdout, stderr)
	}
	if users, err := exec.LookPath("kubectl"); err == nil {
		return runKubectl(exec.CommandContext(ctx, users, args...), k.own(), stdin, stdout, stderr)
	}
	plane, err := k.controlPlane(ctx)
	if err != nil {
		return err
	}
	inside := append([]string{"exec", "-i", plane, "kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"}, args...)
	return runKubectl(exec.CommandContext(ctx, "docker", inside...), k.own(), stdin, stdout, stderr)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
