package testbed

import (
	"fmt"
	"path/filepath"
	"regexp"
	"sync"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/controllings/controllings/testbed/proxy"
)

// Client is one of several users of a bed whose requests are told apart: in the
// record they bear its name (proxy.Request.Client), and a proxy.Match can choose
// them. At the API server all clients are the same ServiceAccount.
type Client struct {
	bed  *Bed
	name string

	kubeconfigOnce sync.Once
	kubeconfigPath string
}

// clientNames keeps names fit for a file name and a line of output, and apart
// from proxy.None.
var clientNames = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// Client returns the client of a name, such as "a": small letters, digits and
// hyphens. The same name is the same client. A process that Start starts has a
// client under its own name.
func (b *Bed) Client(name string) *Client {
	b.t.Helper()
	if !clientNames.MatchString(name) {
		b.giveUp(fmt.Errorf("the client's name %q is not made of small letters, digits and hyphens", name))
	}
	return b.client(name)
}

// client is Client for the check's own process too, whose name is "".
func (b *Bed) client(name string) *Client {
	c, _ := b.byName.LoadOrStore(name, &Client{bed: b, name: name})
	return c.(*Client)
}

// Name is what the client's requests bear.
func (c *Client) Name() string { return c.name }

// Config is like Bed.Config, for this client.
func (c *Client) Config() *rest.Config {
	config := c.bed.proxy.ConfigOf(c.name)
	config.Wrap(tellCaller)
	return config
}

// Clientset is made from Config.
func (c *Client) Clientset() kubernetes.Interface {
	c.bed.t.Helper()
	return c.bed.clientset(c.Config())
}

// Kubeconfig is like Bed.Kubeconfig, for this client.
func (c *Client) Kubeconfig() string {
	b := c.bed
	b.t.Helper()
	c.kubeconfigOnce.Do(func() {
		const name = "bed"
		config := b.proxy.ConfigOf(c.name)
		file := filepath.Join(b.t.TempDir(), "kubeconfig")
		b.Must(clientcmd.WriteToFile(clientcmdapi.Config{ // with mode 0600
			Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
			AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: config.BearerToken}},
			Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name, Namespace: b.namespace}},
			CurrentContext: name,
		}, file), "write a kubeconfig")
		c.kubeconfigPath = file
	})
	return c.kubeconfigPath
}

// Match is m for this client's requests only.
func (c *Client) Match(m proxy.Match) proxy.Match {
	m.Client = c.name
	return m
}
