package cluster

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/controllings/controllings/runner/internal/hint"
)

func plainKubeconfig(server string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: %q}}]
users: [{name: u, user: {}}]
`, server)
}

func TestProbe(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/readyz":
			w.WriteHeader(http.StatusNotFound)
		case r.Header.Get("Authorization") == "Bearer broken":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte("[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n"))
		case r.Header.Get("Authorization") != "Bearer good":
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	dir := t.TempDir()
	put := func(name, data string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("ca.pem", string(ca))
	put("token", "good\n")
	kubeconfig := func(cluster, user string) string {
		return fmt.Sprintf(`{"current-context":"c","contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}],
"clusters":[{"name":"other","cluster":{"server":"https://nowhere.example"}},{"name":"k","cluster":{"server":%q,%s}}],"users":[{"name":"u","user":{%s}}]}`, server.URL, cluster, user)
	}
	inline := `"certificate-authority-data":"` + base64.StdEncoding.EncodeToString(ca) + `"`

	for name, c := range map[string]struct {
		kubeconfig string
		err, hint  string
	}{
		"ready":                          {kubeconfig: kubeconfig(inline, `"token":"good"`)},
		"authority in a file beside it":  {kubeconfig: kubeconfig(`"certificate-authority":"ca.pem"`, `"token":"good"`)},
		"token in a file":                {kubeconfig: kubeconfig(inline, `"tokenFile":"token"`)},
		"the token's file wins":          {kubeconfig: kubeconfig(inline, `"token":"bad","tokenFile":"token"`)},
		"unverified, as it asks for":     {kubeconfig: kubeconfig(`"insecure-skip-tls-verify":true`, `"token":"good"`)},
		"a stranger is told apart":       {kubeconfig: kubeconfig(inline, ``)},
		"credentials from a program":     {kubeconfig: kubeconfig(inline, `"exec":{"command":"aws"}`)},
		"refused":                        {kubeconfig(inline, `"token":"bad"`), "refuses", "make cluster-up"},
		"not ready, and why":             {kubeconfig(inline, `"token":"broken"`), "etcd failed", ""},
		"an authority that is another's": {kubeconfig(`"tls-server-name":"example.com"`, `"token":"good"`), "certificate", "make cluster-up"},
		"nobody there":                   {plainKubeconfig("https://127.0.0.1:1"), "127.0.0.1:1", "make cluster-up"},
		"not YAML":                       {"{", "read kubeconfig", "make cluster-down"},
		"empty":                          {"", "no current-context", "make cluster-down"},
		"no such context":                {"current-context: x", `no context "x"`, "make cluster-down"},
		"no server":                      {plainKubeconfig(""), "no usable server", "make cluster-down"},
		"not base64":                     {kubeconfig(`"certificate-authority-data":"!"`, ``), "certificate-authority", "make cluster-down"},
		"no certificate":                 {kubeconfig(`"certificate-authority":"token"`, ``), "no certificate", "make cluster-down"},
		"a file that is not there":       {kubeconfig(`"certificate-authority":"gone"`, ``), "no such file", "make cluster-down"},
		"a certificate without a key":    {kubeconfig(inline, `"client-certificate":"ca.pem"`), "client-certificate", "make cluster-down"},
	} {
		t.Run(name, func(t *testing.T) {
			put("kubeconfig", c.kubeconfig)
			err := Probe(t.Context(), filepath.Join(dir, "kubeconfig"))
			if c.err == "" {
				if err != nil {
					t.Errorf("err = %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(hint.Of(err), c.hint) {
				t.Errorf("err = %v, hint = %q; want %q and %q", err, hint.Of(err), c.err, c.hint)
			}
		})
	}
	t.Run("no file", func(t *testing.T) {
		if err := Probe(t.Context(), filepath.Join(dir, "none")); err == nil || hint.Of(err) != "run make cluster-up" {
			t.Errorf("err = %v, hint = %q", err, hint.Of(err))
		}
	})
}
