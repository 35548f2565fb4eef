package clientset_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
)

const configPart = "README.md#configuration"

// Servers that nobody listens on: what LoadConfig chose is told by the name.
const (
	explicitServer  = "https://explicit.example:6443"
	envServer       = "https://kubeconfig-variable.example:6443"
	secondServer    = "https://second-of-the-list.example:6443"
	inClusterServer = "https://in-cluster.example:443"
	homeServer      = "https://home.example:6443"
)

func TestLoadConfigFindsTheCluster(t *testing.T) {
	b := testbed.New(t)
	dir := t.TempDir()

	explicit := writeKubeconfig(t, filepath.Join(dir, "explicit"), explicitServer)
	env := writeKubeconfig(t, filepath.Join(dir, "env"), envServer)
	second := writeKubeconfig(t, filepath.Join(dir, "second"), secondServer)
	contextOnly, clusterOnly := splitKubeconfig(t, dir, envServer)
	missing := filepath.Join(dir, "missing")
	broken := filepath.Join(dir, "broken")
	require.NoError(t, os.WriteFile(broken, []byte("apiVersion: v1\nclusters: {"), 0o600))
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	join := func(files ...string) string { return strings.Join(files, string(filepath.ListSeparator)) }

	inPod := func() (*rest.Config, error) { return &rest.Config{Host: inClusterServer}, nil }
	notInPod := func() (*rest.Config, error) { return nil, rest.ErrNotInCluster }
	brokenPod := func() (*rest.Config, error) { return nil, errors.New("the token file is not readable") }

	cases := []struct {
		name       string
		path       string
		kubeconfig string
		inCluster  func() (*rest.Config, error)
		home       bool
		server     string   // the server that must be chosen, or
		says       []string // what the error must name
	}{
		{name: "an explicit path comes first", path: explicit, kubeconfig: env, inCluster: inPod, home: true, server: explicitServer},
		{name: "an explicit path that is missing is an error, not a reason to look elsewhere", path: missing, kubeconfig: env, inCluster: inPod, home: true, says: []string{missing}},
		{name: "KUBECONFIG comes before the Pod's ServiceAccount and the home file", kubeconfig: env, inCluster: inPod, home: true, server: envServer},
		{name: "KUBECONFIG is a list, and its files are merged", kubeconfig: join(contextOnly, clusterOnly), inCluster: notInPod, server: envServer},
		{name: "of two files in KUBECONFIG that define the same names, the first wins", kubeconfig: join(env, second), inCluster: notInPod, server: envServer},
		{name: "a file that KUBECONFIG lists may be missing while another is there", kubeconfig: join(missing, env), inCluster: notInPod, home: true, server: envServer},
		{name: "a KUBECONFIG of which no file is there is passed over", kubeconfig: missing, inCluster: inPod, server: inClusterServer},
		{name: "a broken file in KUBECONFIG is an error, not a reason to look elsewhere", kubeconfig: broken, inCluster: inPod, home: true, says: []string{broken}},
		{name: "in a Pod its ServiceAccount comes before the home file", inCluster: inPod, home: true, server: inClusterServer},
		{name: "in a Pod whose ServiceAccount can't be used, that is the error", inCluster: brokenPod, home: true, says: []string{"the token file is not readable"}},
		{name: "the home file comes last", inCluster: notInPod, home: true, server: homeServer},
		{name: "with nothing to be found, the error says where it looked", inCluster: notInPod, says: []string{"KUBECONFIG", "cluster|pod|service account|serviceaccount", filepath.Join(".kube", "config")}},
		{name: "an empty kubeconfig is an error, never a server at localhost", path: empty, inCluster: notInPod, says: []string{""}},
	}
	for _, c := range cases {
		home := filepath.Join(dir, "home without a file")
		if c.home {
			home = filepath.Join(dir, "home")
			writeKubeconfig(t, filepath.Join(home, ".kube", "config"), homeServer)
		}
		t.Setenv("HOME", home)
		t.Setenv("KUBECONFIG", c.kubeconfig)

		config, err := clientset.LoadConfig(c.path, c.inCluster)
		if c.server != "" {
			b.NoError(err, testbed.Fail{Expected: c.name + ": " + c.server, See: configPart})
			if config == nil || config.Host != c.server {
				b.Fail(testbed.Fail{Expected: c.name + ": " + c.server, Seen: describeConfig(config), See: configPart})
			}
			continue
		}
		if err == nil {
			b.Fail(testbed.Fail{Expected: c.name, Seen: "no error, and " + describeConfig(config), See: configPart})
		}
		for _, word := range c.says {
			if !names(err, word) {
				b.Fail(testbed.Fail{
					Expected: fmt.Sprintf("%s: an error that names %q", c.name, strings.Split(word, "|")[0]),
					Seen:     err.Error(),
					See:      configPart,
				})
			}
		}
	}

	// And for real: the configuration leads to the API server, as this bed's
	// identity.
	config, err := clientset.LoadConfig(b.Kubeconfig(), notInPod)
	b.NoError(err, testbed.Fail{Expected: "a configuration from a kubeconfig that works", See: configPart})
	client, err := kubernetes.NewForConfig(config)
	b.NoError(err, testbed.Fail{Expected: "a clientset from the configuration", See: configPart})
	_, err = client.CoreV1().Pods(b.Namespace()).List(b.Context(), metav1.ListOptions{Limit: 1})
	b.NoError(err, testbed.Fail{Expected: "a list of Pods with the loaded configuration: address, authority and token all taken over", See: configPart})
}

// names tells whether an error holds one of the words between the bars.
func names(err error, words string) bool {
	text := strings.ToLower(err.Error())
	return slices.ContainsFunc(strings.Split(strings.ToLower(words), "|"), func(w string) bool { return strings.Contains(text, w) })
}

func describeConfig(config *rest.Config) string {
	if config == nil {
		return "no configuration"
	}
	return fmt.Sprintf("the server %q", config.Host)
}

func writeKubeconfig(t *testing.T, path, server string) string {
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "t"}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "c"
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return path
}

// splitKubeconfig writes one configuration in two files, as people do who keep
// a file for each cluster and switch contexts in another.
func splitKubeconfig(t *testing.T, dir, server string) (contextOnly, clusterOnly string) {
	contextOnly, clusterOnly = filepath.Join(dir, "context"), filepath.Join(dir, "cluster")
	first := clientcmdapi.NewConfig()
	first.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	first.CurrentContext = "c"
	require.NoError(t, clientcmd.WriteToFile(*first, contextOnly))
	second := clientcmdapi.NewConfig()
	second.Clusters["c"] = &clientcmdapi.Cluster{Server: server}
	second.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "t"}
	require.NoError(t, clientcmd.WriteToFile(*second, clusterOnly))
	return contextOnly, clusterOnly
}
