package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/defaults"
	"sigs.k8s.io/kind/pkg/cluster"

	"github.com/controllings/controllings/runner/internal/hint"
)

// What says which node image is used.
const (
	// imageVar names one; it is pulled if it isn't there.
	imageVar = "KIND_NODE_IMAGE"
	// builtImage is the one that make node-image builds, without its version.
	builtImage = "controllings/node"
	// builtLabel is on it, and on what others make of it: such an image has no
	// network plugin of kind's, and wants a configuration of its own.
	builtLabel = "controllings.node-image"
)

// create makes the cluster.
func (k *kind) create(ctx context.Context, e engine) error {
	if err := mkdir(k.dir()); err != nil {
		return err
	}
	name := wanted()
	taken, err := k.docker.nodes(ctx, name)
	if err != nil {
		return err
	}
	if len(taken) > 0 {
		return hint.New(fmt.Sprintf("take it down where it was made (another checkout, another LAB_HOME), or remove it: kind delete cluster --name %s; or give this one another name: export %s=%s-2", name, clusterVar, kindName),
			"there is a kind cluster %q that is not of this LAB_HOME (%s): it stays as it is", name, taken[0].Names)
	}
	image, config, err := k.image(ctx)
	if err != nil {
		return err
	}
	if err := enough(e, config); err != nil {
		return err
	}
	// From here on whatever bears our name is ours to remove.
	r := &kindRecord{Name: name, Image: image}
	if err := k.keep(r); err != nil {
		return err
	}
	start := time.Now()
	fmt.Fprintf(k.o.Status, "making the kind cluster %q of %s: about a minute\n", name, short(image))
	err = interruptible(ctx, func() error {
		return cluster.NewProvider(cluster.ProviderWithDocker(), cluster.ProviderWithLogger(kindLogger{k.o.Status})).Create(name,
			cluster.CreateWithConfigFile(config),
			cluster.CreateWithNodeImage(image),
			cluster.CreateWithKubeconfigPath(k.scratch()),
			cluster.CreateWithWaitForReady(kindReady))
	}, func() { _ = k.delete(name) })
	if err != nil {
		// A call that goes on may make something yet: the record stays, and with it
		// the next Up removes what there is then.
		if !errors.Is(err, errStillRunning) {
			if removeErr := k.remove(r); removeErr != nil {
				fmt.Fprintf(k.o.Status, "not removed: %v\n", removeErr)
			}
		}
		return explainKind(fmt.Sprintf("make the kind cluster %q", name), err)
	}
	kubeconfig, err := cluster.NewProvider(cluster.ProviderWithDocker()).KubeConfig(name, false)
	if err != nil {
		return explainKind(fmt.Sprintf("read the kubeconfig of kind cluster %q", name), err)
	}
	if err := writeFile(k.own(), []byte(kubeconfig)); err != nil {
		return err
	}
	_ = os.Remove(k.scratch())
	if !k.serves(ctx, kindRestart) {
		return hint.New("docker ps and lab cluster logs say more", "the kind cluster %q was made, but its API server does not answer", name)
	}
	r.Made = true
	if err := k.keep(r); err != nil {
		return err
	}
	fmt.Fprintf(k.o.Status, "the cluster is ready after %s\n", time.Since(start).Round(100*time.Millisecond))
	return k.publish()
}

// image decides which node image is used, gets it if need be, and says which
// configuration goes with it: the image that was asked for; else kind's stock
// image if it is here; else the one that make node-image built; else the stock
// image, from a registry.
func (k *kind) image(ctx context.Context) (name, config string, err error) {
	candidates := []string{defaults.Image, builtImage + ":" + k.version()}
	if named := os.Getenv(imageVar); named != "" {
		candidates = []string{named}
	}
	for _, candidate := range candidates {
		found, err := k.docker.image(ctx, candidate)
		if err != nil {
			return "", "", err
		}
		if found != nil {
			return candidate, k.config(found), nil
		}
	}
	name = candidates[0]
	fmt.Fprintf(k.o.Status, "pulling %s: some hundred megabytes, once\n", short(name))
	if err := k.docker.pull(ctx, name, k.o.Status); err != nil {
		if ctx.Err() != nil {
			return "", "", context.Cause(ctx)
		}
		return "", "", hint.New("without a registry: make node-image builds a node image from Debian's packages and Go modules alone; or name one that you have, of a mirror perhaps: export "+imageVar+"=…",
			"pull the node image %s: %w", short(name), err)
	}
	found, err := k.docker.image(ctx, name)
	if err != nil {
		return "", "", err
	}
	return name, k.config(found), nil
}

// config is the configuration for an image.
func (k *kind) config(i *image) string {
	if i != nil && i.Config.Labels[builtLabel] != "" {
		return filepath.Join(k.o.Root, "scripts", "node-image", "kind-config.yaml")
	}
	return filepath.Join(k.o.Root, "kind-config.yaml")
}

// version is the version of Kubernetes that the course is about.
func (k *kind) version() string {
	gomod, err := os.ReadFile(filepath.Join(k.o.Root, "controlplane", "go.mod"))
	if err != nil {
		return ""
	}
	return kubernetesVersion(gomod)
}

// short is an image's name without its digest.
func short(image string) string {
	name, _, _ := strings.Cut(image, "@")
	return name
}

// enough says whether Docker has the memory: a node that is out of it fails in
// ways that nobody understands.
func enough(e engine, config string) error {
	data, err := os.ReadFile(config)
	if err != nil {
		return fmt.Errorf("read the cluster's configuration: %w", err)
	}
	nodes := max(1, strings.Count(string(data), "- role:"))
	need := int64(1<<30) + int64(nodes)*(512<<20)
	if e.Memory > 0 && e.Memory < need {
		return hint.New("give Docker more (in Docker Desktop: Settings, Resources), or use the cluster that needs less than 1 GB: CLUSTER=embedded",
			"Docker has %.1f GB of memory, and a kind cluster of %d nodes needs %.1f GB", float64(e.Memory)/(1<<30), nodes, float64(need)/(1<<30))
	}
	return nil
}
