package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var admin = Client{Name: "admin", User: "kubernetes-admin", Groups: []string{"system:masters"}}

func ensure(t *testing.T, dir string, now time.Time) *PKI {
	t.Helper()
	p, err := Ensure(dir, Options{
		ServiceIP: net.IPv4(10, 96, 0, 1), Clients: []Client{admin},
		Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// contents of all files in dir, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

func TestEnsureKeepsWhatIsGood(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	ensure(t, dir, now)
	before := contents(t, dir)
	ensure(t, dir, now.Add(24*time.Hour))
	for name, was := range before {
		if contents(t, dir)[name] != was {
			t.Errorf("%s was made anew", name)
		}
	}
}

func TestEnsureRenews(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		later time.Duration
		anew  []string // and nothing else
	}{
		"a leaf about to end": {
			later: leafLife - renewBefore + time.Hour,
			anew:  []string{"apiserver.crt", "apiserver.key", "client-admin.crt", "client-admin.key", "front-proxy-client.crt", "front-proxy-client.key"},
		},
		"a lost key": {
			spoil: func(t *testing.T, dir string) { remove(t, dir, "client-admin.key") },
			anew:  []string{"client-admin.crt", "client-admin.key"},
		},
		"a file cut short": {
			spoil: func(t *testing.T, dir string) { write(t, dir, "apiserver.crt", "-----BEGIN CERT") },
			anew:  []string{"apiserver.crt", "apiserver.key"},
		},
		"a lost authority, and all it signed": {
			spoil: func(t *testing.T, dir string) { remove(t, dir, "ca.key") },
			anew:  []string{"ca.crt", "ca.key", "apiserver.crt", "apiserver.key", "client-admin.crt", "client-admin.key"},
		},
		"another certificate's key": {
			spoil: func(t *testing.T, dir string) {
				write(t, dir, "apiserver.key", contents(t, dir)["client-admin.key"])
			},
			anew: []string{"apiserver.crt", "apiserver.key"},
		},
		"a public key that does not match": {
			spoil: func(t *testing.T, dir string) { write(t, dir, "sa.pub", "nonsense") },
			anew:  nil, // sa.pub is written again from sa.key
		},
		"a lost service account key": {
			spoil: func(t *testing.T, dir string) { remove(t, dir, "sa.key") },
			anew:  []string{"sa.key", "sa.pub"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ensure(t, dir, now)
			before := contents(t, dir)
			if c.spoil != nil {
				c.spoil(t, dir)
			}
			ensure(t, dir, now.Add(c.later))
			after := contents(t, dir)
			anew := map[string]bool{}
			for _, f := range c.anew {
				anew[f] = true
			}
			for f := range before {
				if changed := after[f] != before[f]; changed != anew[f] {
					t.Errorf("%s: made anew = %v, want %v", f, changed, anew[f])
				}
			}
		})
	}
}

func TestFilesAreForTheOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	ensure(t, dir, time.Now())
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		info, err := d.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
}

// A server with the API server's certificate, and a client with the
// administrator's, understand each other, at each name the server goes by.
func TestServerAndClientTrustEachOther(t *testing.T) {
	dir := t.TempDir()
	p := ensure(t, dir, time.Now())
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "apiserver.crt"), filepath.Join(dir, "apiserver.key"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := r.TLS.PeerCertificates[0].Subject
		_, _ = io.WriteString(w, s.CommonName+" "+strings.Join(s.Organization, ","))
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: p.CA(), ClientAuth: tls.RequireAndVerifyClientCert}
	server.StartTLS()
	defer server.Close()

	conf, err := p.TLS("admin")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"127.0.0.1", "localhost", "10.96.0.1", "kubernetes.default.svc"} {
		conf := conf.Clone()
		conf.ServerName = name
		resp, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: conf}}).Get(server.URL)
		if err != nil {
			t.Errorf("as %s: %v", name, err)
			continue
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if got, want := string(body), "kubernetes-admin system:masters"; got != want {
			t.Errorf("as %s the server saw %q, want %q", name, got, want)
		}
	}
}

// What one authority signed says nothing to who trusts the other.
func TestTheAuthoritiesAreApart(t *testing.T) {
	dir := t.TempDir()
	p := ensure(t, dir, time.Now())
	block, _ := pem.Decode([]byte(contents(t, dir)["front-proxy-client.crt"]))
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	_, err = cert.Verify(x509.VerifyOptions{Roots: p.CA(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err == nil {
		t.Error("the cluster's authority vouches for the front proxy")
	}
}

func TestKubeconfig(t *testing.T) {
	p := ensure(t, t.TempDir(), time.Now())
	data, err := p.Kubeconfig("admin", "https://127.0.0.1:6443")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"server: https://127.0.0.1:6443\n", "current-context: controllings\n", "client-key-data: "} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %q in it", want)
		}
	}
	if _, err := p.Kubeconfig("nobody", "https://127.0.0.1:6443"); err == nil {
		t.Error("a kubeconfig for a client that has no certificate")
	}
}

func write(t *testing.T, dir, name, data string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}
