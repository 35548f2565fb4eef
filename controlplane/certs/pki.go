package certs

import (
	"crypto/ecdsa"
	"crypto/x509"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/controllings/controllings/controlplane/files"
)

const (
	caLife   = 10 * 365 * 24 * time.Hour
	leafLife = 365 * 24 * time.Hour

	// renewBefore is how long before its end a certificate is made anew. A
	// cluster that runs longer than this without a restart would outlive its
	// certificates; a learner's does not.
	renewBefore = 30 * 24 * time.Hour
)

// Client is who a kubeconfig's certificate says its holder is.
type Client struct {
	Name   string   // file name, and nothing else
	User   string   // CN: the Kubernetes user
	Groups []string // O: the Kubernetes groups
}

// PKI is the set of keys and certificates in a folder.
type PKI struct {
	dir     string
	ca      *pair
	clients map[string]*pair
}

// pair is a certificate with its private key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Options says what the certificates are to hold.
type Options struct {
	// ServiceIP is the first address of the cluster's service range, at which
	// Pods would reach the API server as "kubernetes.default".
	ServiceIP net.IP
	// Clients get a certificate each, kept in memory for Kubeconfig.
	Clients []Client
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Ensure makes what is missing in dir and keeps what is still good: readable,
// signed by its authority, and not about to end. So a kubeconfig handed out
// stays valid over restarts. Something unreadable is replaced with all that
// hangs on it, never an error: these files hold nothing that can't be made
// again.
func Ensure(dir string, o Options) (*PKI, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := files.MkdirAll(dir); err != nil {
		return nil, err
	}
	e := ensurer{dir: dir, now: o.Now()}

	ca, err := e.authority("ca", "kubernetes")
	if err != nil {
		return nil, err
	}
	frontCA, err := e.authority("front-proxy-ca", "front-proxy-ca")
	if err != nil {
		return nil, err
	}

	loopback := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	apiserverIPs := loopback
	if o.ServiceIP != nil {
		apiserverIPs = append([]net.IP{o.ServiceIP}, loopback...)
	}
	for _, l := range []leaf{
		{file: "apiserver", user: "kube-apiserver", server: true, ips: apiserverIPs, names: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local",
		}, by: ca},
		{file: "front-proxy-client", user: "front-proxy-client", client: true, by: frontCA},
	} {
		if _, err := e.leaf(l); err != nil {
			return nil, err
		}
	}
	p := &PKI{dir: dir, ca: ca, clients: map[string]*pair{}}
	for _, c := range o.Clients {
		l := leaf{file: "client-" + c.Name, user: c.User, groups: c.Groups, client: true, by: ca}
		if p.clients[c.Name], err = e.leaf(l); err != nil {
			return nil, err
		}
	}
	return p, e.serviceAccountKey()
}

// CA returns the certificate pool of the cluster's own authority: what a client
// of the API server trusts.
func (p *PKI) CA() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(p.ca.cert)
	return pool
}

// CAFile is the path of the cluster's own authority.
func (p *PKI) CAFile() string { return filepath.Join(p.dir, "ca.crt") }

func (p *PKI) client(name string) (*pair, error) {
	c, ok := p.clients[name]
	if !ok {
		return nil, fmt.Errorf("no certificate for client %q", name)
	}
	return c, nil
}
