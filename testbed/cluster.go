package testbed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc" // a login that a kubeconfig may name
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/controllings/controllings/testbed/internal/ours"
)

// noCluster is the first line of a check that finds no cluster.
const noCluster = "no cluster: run make cluster-up"

// clusterConfig leads to the cluster, with all rights. It is read once, since the
// test's own environment no longer tells where it is.
var clusterConfig = sync.OnceValues(func() (*rest.Config, error) {
	path, err := findKubeconfig()
	if err != nil {
		return nil, err
	}
	raw, err := clientcmd.LoadFromFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s\n(there is no %s)", noCluster, path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the cluster's kubeconfig: %w", err)
	}
	if err := clientcmd.ResolveLocalPaths(raw); err != nil {
		return nil, fmt.Errorf("read the cluster's kubeconfig: %w", err)
	}
	// Not the loading rules' way, which may end in another cluster.
	c, err := clientcmd.NewDefaultClientConfig(*raw, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the cluster's kubeconfig %s: %w", path, err)
	}
	c.AuthConfigPersister = nil // it would write into the user's own kubeconfig
	c.QPS = -1
	c.UserAgent = "testbed"
	c.WarningHandler = rest.NoWarnings{} // those of the learner's own client are for the learner
	return c, nil
})

// clusterHome names the lab's home, the folder of the admin's kubeconfig. It is
// read once, as clusterConfig is.
var clusterHome = sync.OnceValues(func() (string, error) {
	path, err := findKubeconfig()
	if err != nil {
		return "", err
	}
	return ours.Home(filepath.Dir(path))
})

// findKubeconfig returns the path of the admin's kubeconfig: $LAB_KUBECONFIG, or
// $LAB_HOME/kubeconfig, or .lab/kubeconfig beside the course's go.work.
func findKubeconfig() (string, error) {
	if path := os.Getenv("LAB_KUBECONFIG"); path != "" {
		return path, nil
	}
	if home := os.Getenv("LAB_HOME"); home != "" {
		return filepath.Join(home, "kubeconfig"), nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the cluster's kubeconfig: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return filepath.Join(dir, ".lab", "kubeconfig"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New(noCluster + "\n(no $LAB_KUBECONFIG, and no go.work above this folder)")
		}
		dir = parent
	}
}
