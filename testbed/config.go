package testbed

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Config is a fresh client configuration for the learner's code: through the
// bed's proxy, as the ServiceAccount "learner", without a client-side rate limit
// (QPS -1). What the caller changes in it changes nobody else's.
func (b *Bed) Config() *rest.Config {
	c := b.proxy.Config()
	c.Wrap(tellCaller)
	return c
}

// Clientset is a client for the learner's code, made from Config.
func (b *Bed) Clientset() kubernetes.Interface {
	b.t.Helper()
	return b.clientset(b.Config())
}

// Kubeconfig is the path of a kubeconfig file for the learner's code, with the
// same rights as Config and the bed's namespace as the default one.
func (b *Bed) Kubeconfig() string {
	b.t.Helper()
	b.kubeconfigOnce.Do(func() {
		const name = "bed"
		c := b.proxy.Config()
		file := filepath.Join(b.t.TempDir(), "kubeconfig")
		b.Must(clientcmd.WriteToFile(clientcmdapi.Config{ // with mode 0600
			Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: c.Host, CertificateAuthorityData: c.CAData}},
			AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: c.BearerToken}},
			Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name, Namespace: b.namespace}},
			CurrentContext: name,
		}, file), "write a kubeconfig")
		b.kubeconfigPath = file
	})
	return b.kubeconfigPath
}

func (b *Bed) clientset(c *rest.Config) kubernetes.Interface {
	b.t.Helper()
	clients, err := kubernetes.NewForConfig(c)
	b.Must(err, "make a client")
	return clients
}

// Must ends the check if err is not nil: something failed that is no doing of
// the learner's, such as laying out the objects the check begins with. The
// verdict is "error" then.
func (b *Bed) Must(err error, what string) {
	b.t.Helper()
	if err != nil {
		b.giveUp(fmt.Errorf("%s: %w", what, err))
	}
}
