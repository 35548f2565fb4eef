package clientset_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/controllings/controllings/testbed"
)

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

// undecidedKubeconfig writes one with two contexts, of which none is the current
// one: some people keep it so, lest they work on a cluster by mistake.
func undecidedKubeconfig(t *testing.T, path string, servers ...string) string {
	config := clientcmdapi.NewConfig()
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "t"}
	for _, server := range servers {
		config.Clusters[server] = &clientcmdapi.Cluster{Server: server}
		config.Contexts[server] = &clientcmdapi.Context{Cluster: server, AuthInfo: "u"}
	}
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return path
}

// kubeconfigWithFiles writes the bed's kubeconfig into a folder of its own, the
// certificate of the authority beside it, named by a relative path.
func kubeconfigWithFiles(t *testing.T, b *testbed.Bed, dir string) string {
	config, err := clientcmd.LoadFromFile(b.Kubeconfig())
	require.NoError(t, err)
	for _, cluster := range config.Clusters {
		require.NoError(t, os.MkdirAll(dir, 0o700))
		writeFile(t, filepath.Join(dir, "ca.crt"), string(cluster.CertificateAuthorityData))
		cluster.CertificateAuthority, cluster.CertificateAuthorityData = "ca.crt", nil
	}
	path := filepath.Join(dir, "config")
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return path
}

// homeFileIs does what client-go does when a program starts: it keeps the path of
// the home directory's file in a variable, which an answer may go by.
func homeFileIs(t *testing.T, path string) {
	before := clientcmd.RecommendedHomeFile
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = before })
	clientcmd.RecommendedHomeFile = path
}

func writeFile(t *testing.T, path, content string) string {
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
