package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/controllings/controllings/runner/internal/hint"
)

// kubeconfigFile is as much of a kubeconfig as it takes to reach its API server.
type kubeconfigFile struct {
	CurrentContext string `yaml:"current-context"`
	Contexts       []struct {
		Name    string
		Context struct{ Cluster, User string }
	}
	Clusters []struct {
		Name    string
		Cluster struct {
			Server        string
			CAFile        string `yaml:"certificate-authority"`
			CAData        string `yaml:"certificate-authority-data"`
			TLSServerName string `yaml:"tls-server-name"`
			Insecure      bool   `yaml:"insecure-skip-tls-verify"`
			ProxyURL      string `yaml:"proxy-url"`
		}
	}
	Users []struct {
		Name string
		User struct {
			CertFile  string `yaml:"client-certificate"`
			CertData  string `yaml:"client-certificate-data"`
			KeyFile   string `yaml:"client-key"`
			KeyData   string `yaml:"client-key-data"`
			Token     string
			TokenFile string `yaml:"tokenFile"`
		}
	}
}

// target is how to reach an API server.
type target struct {
	server      string
	tls         *tls.Config
	proxy       string
	token       string
	credentials bool // some that we can use are there
}

// readTarget reads the current context of the kubeconfig at path.
func readTarget(path string) (*target, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.New("run make cluster-up", "no cluster: %q does not exist", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	t, err := parseTarget(data, filepath.Dir(path))
	if err != nil {
		return nil, hint.New("make the kubeconfig anew: make cluster-down cluster-up", "read kubeconfig %q: %w", path, err)
	}
	return t, nil
}

// parseTarget reads a kubeconfig; relative paths in it start at dir.
func parseTarget(data []byte, dir string) (*target, error) {
	var k kubeconfigFile
	if err := yaml.Unmarshal(data, &k); err != nil {
		return nil, err
	}
	if k.CurrentContext == "" {
		return nil, errors.New("it has no current-context")
	}
	var clusterName, userName string
	found := false
	for _, c := range k.Contexts {
		if c.Name == k.CurrentContext {
			clusterName, userName, found = c.Context.Cluster, c.Context.User, true
		}
	}
	if !found {
		return nil, fmt.Errorf("it has no context %q", k.CurrentContext)
	}
	t := &target{tls: &tls.Config{MinVersion: tls.VersionTLS12}}
	for _, c := range k.Clusters {
		if c.Name != clusterName {
			continue
		}
		t.server, t.proxy = c.Cluster.Server, c.Cluster.ProxyURL
		t.tls.ServerName, t.tls.InsecureSkipVerify = c.Cluster.TLSServerName, c.Cluster.Insecure
		ca, err := content(c.Cluster.CAData, c.Cluster.CAFile, dir)
		if err != nil {
			return nil, fmt.Errorf("certificate-authority: %w", err)
		}
		if ca != nil {
			t.tls.RootCAs = x509.NewCertPool()
			if !t.tls.RootCAs.AppendCertsFromPEM(ca) {
				return nil, errors.New("certificate-authority: no certificate in it")
			}
		}
	}
	if u, err := url.Parse(t.server); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("cluster %q has no usable server: %q", clusterName, t.server)
	}
	for _, u := range k.Users {
		if u.Name != userName {
			continue
		}
		cert, err := content(u.User.CertData, u.User.CertFile, dir)
		if err != nil {
			return nil, fmt.Errorf("client-certificate: %w", err)
		}
		key, err := content(u.User.KeyData, u.User.KeyFile, dir)
		if err != nil {
			return nil, fmt.Errorf("client-key: %w", err)
		}
		if cert != nil {
			pair, err := tls.X509KeyPair(cert, key)
			if err != nil {
				return nil, fmt.Errorf("client-certificate: %w", err)
			}
			t.tls.Certificates = []tls.Certificate{pair}
		}
		t.token = u.User.Token
		if u.User.TokenFile != "" {
			token, err := content("", u.User.TokenFile, dir)
			if err != nil {
				return nil, fmt.Errorf("tokenFile: %w", err)
			}
			t.token = strings.TrimSpace(string(token)) // the file wins, as in client-go
		}
		t.credentials = t.token != "" || cert != nil
	}
	return t, nil
}

// content returns what a "-data" field holds, or the file beside it, or nil.
func content(data, file, dir string) ([]byte, error) {
	if data != "" {
		return base64.StdEncoding.DecodeString(data)
	}
	if file == "" {
		return nil, nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return os.ReadFile(file)
}

func (t *target) client() (*http.Client, error) {
	tr := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: t.tls, ForceAttemptHTTP2: true}
	if t.proxy != "" {
		u, err := url.Parse(t.proxy)
		if err != nil {
			return nil, fmt.Errorf("proxy-url: %w", err)
		}
		tr.Proxy = http.ProxyURL(u)
	}
	return &http.Client{
		Transport: tr,
		// An answer that leads elsewhere is not the API server's.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}
