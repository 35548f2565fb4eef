package cluster

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/controllings/controllings/runner/internal/hint"
)

// fakeGuest records how it is called, and answers with $ANSWER.
const fakeGuest = `echo "guest $*" >>"$CALLS"
case $1 in
check) [ -r "$3" ] && printf '%s\n' "${ANSWER:-{\"kubernetes\":\"v1.37.2\"\}}" ;;
clean) echo "removing namespace bed-abcde" >&2; printf '%s\n' "${ANSWER:-{\"removed\":[\"namespace bed-abcde\"]\}}" ;;
esac
`

// somebodys is a cluster of somebody else's, and a kubeconfig that leads there.
type somebodys struct {
	*course
	server   *httptest.Server
	requests atomic.Int64
	file     string // the user's kubeconfig
}

func newSomebodys(t *testing.T) (*somebodys, *existing) {
	t.Helper()
	s := &somebodys{course: newCourse(t)}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if r.URL.Path == "/version" {
			_, _ = w.Write([]byte(`{"gitVersion":"v1.36.1"}`))
		}
	}))
	t.Cleanup(s.server.Close)
	s.script("go", goodGo)
	s.built(fakeGuest)
	s.write("testbed/go.mod", "module x\n")
	s.file = s.user(s.server.URL)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	t.Setenv(fileVar, s.file)
	t.Setenv(contextVar, "prod")
	for _, name := range []string{"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, "")
	}
	return s, s.openExisting()
}

// user writes a kubeconfig with two contexts.
func (s *somebodys) user(server string) string {
	s.write("user/config", `apiVersion: v1
kind: Config
current-context: dev
preferences: {colors: true}
contexts:
- {name: dev, context: {cluster: dev, user: dev, namespace: web}}
- {name: prod, context: {cluster: prod, user: prod}}
clusters:
- {name: dev, cluster: {server: "http://127.0.0.1:1"}}
- {name: prod, cluster: {server: "`+server+`", extensions: [{name: x, extension: {a: 1}}]}}
users:
- {name: dev, user: {token: "0123"}}
- {name: prod, user: {token: secret}}
`)
	return filepath.Join(s.root, "user", "config")
}

func (s *somebodys) openExisting() *existing {
	s.t.Helper()
	p, err := Open(Options{Root: s.root, Name: "existing", Status: s.said})
	if err != nil {
		s.t.Fatal(err)
	}
	return p.(*existing)
}

// kept lists the files under .lab and bin.
func (s *somebodys) kept() []string {
	s.t.Helper()
	var all []string
	for _, dir := range []string{".lab", "bin"} {
		_ = filepath.WalkDir(filepath.Join(s.root, dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				all = append(all, path)
			}
			return nil
		})
	}
	return all
}

// Whatever is not named is not touched: no request, no file.
func TestExistingGuessesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		file, kubeconfig, context string
		err, hint                 string
	}{
		"no context":        {"user/config", "", "", "LAB_CONTEXT is not set; \"ROOT/user/config\" has the contexts: dev, prod", "LAB_CONTEXT=NAME"},
		"no file":           {"", "", "prod", "no kubeconfig is named", fileVar},
		"neither":           {"", "", "", "no kubeconfig is named", fileVar},
		"no such file":      {"user/none", "", "prod", "does not exist", fileVar},
		"no such context":   {"user/config", "", "staging", `there is no context "staging"`, "has dev, prod"},
		"several files":     {"", "ROOT/user/config:ROOT/other", "prod", "KUBECONFIG names 2 files", "is the one"},
		"not a kubeconfig":  {"user/broken", "", "prod", "read the kubeconfig", "config view"},
		"two of one name":   {"user/twins", "", "a", `there are two contexts of the name "a"`, ""},
		"no such cluster":   {"user/twins", "", "b", `there is no cluster "gone"`, ""},
		"no such user":      {"user/twins", "", "c", `there is no user "gone"`, ""},
		"no server":         {"user/twins", "", "d", "no usable server", ""},
		"somebody else's":   {"user/twins", "", "e", `acts as "root"`, ""},
		"an empty file":     {"user/empty", "", "prod", `there is no context "prod"`, "has none"},
		"KUBECONFIG, no c.": {"", "ROOT/user/config:", "", "has the contexts: dev, prod", "LAB_CONTEXT=NAME"},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := newSomebodys(t)
			s.write("user/broken", "{")
			s.write("user/empty", "")
			s.write("user/twins", `{contexts: [{name: a, context: {}}, {name: a, context: {}}, {name: b, context: {cluster: gone}},
{name: c, context: {cluster: k, user: gone}}, {name: d, context: {cluster: none}}, {name: e, context: {cluster: k, user: sudo}}],
clusters: [{name: k, cluster: {server: "https://127.0.0.1:1"}}, {name: none, cluster: {server: ""}}], users: [{name: sudo, user: {as: root}}]}`)
			if c.file != "" {
				c.file = filepath.Join(s.root, c.file)
			}
			root := func(text string) string { return strings.ReplaceAll(text, "ROOT", s.root) }
			t.Setenv(fileVar, c.file)
			t.Setenv("KUBECONFIG", root(c.kubeconfig))
			t.Setenv(contextVar, c.context)
			if name == "several files" {
				c.hint = "export " + fileVar
			}
			err := p.Up(t.Context())
			if err == nil || !strings.Contains(err.Error(), root(c.err)) || !strings.Contains(hint.Of(err), c.hint) {
				t.Errorf("err = %v\nhint = %q\nwant %q and %q", err, hint.Of(err), root(c.err), c.hint)
			}
			if err := p.Down(t.Context()); err != nil {
				t.Error(err)
			}
			if st, err := p.Status(t.Context()); err != nil || st.State != Down {
				t.Errorf("status: %+v, %v", st, err)
			}
			if n := s.requests.Load(); n > 0 {
				t.Errorf("%d requests were sent", n)
			}
			if kept, calls := s.kept(), s.calls(); len(kept)+len(calls) > 0 {
				t.Errorf("wrote %q, ran %q", kept, calls)
			}
		})
	}
}

func TestExistingIsUsedAndLeft(t *testing.T) {
	s, p := newSomebodys(t)
	before, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	s.write("chapters/05-api/config/crd/widgets.yaml", "metadata: {name: widgets.shop.example.com}")
	s.write("solutions/05-api/config/crd/widgets.yaml", "metadata: {name: widgets.shop.example.com}")
	s.write("chapters/06-x/config/crd/broken.yaml", "{")
	s.write("chapters/06-x/config/crd/not-ours.yaml", "metadata: {name: a.example.org}")
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls := s.calls()
	if got := calls[len(calls)-1]; !strings.HasPrefix(got, "guest check --kubeconfig "+s.root) || !strings.HasSuffix(got, " widgets.shop.example.com") || len(calls) != 2 {
		t.Errorf("calls %q", calls)
	}
	want := `using context "prod" at ` + s.server.URL + `: will create namespaces, cluster roles and custom types (widgets.shop.example.com), all labelled app.kubernetes.io/managed-by=controllings-testbed; make cluster-down removes them`
	if got := s.said.String(); !strings.Contains(got, want) || strings.Contains(got, "warning") {
		t.Errorf("said %q", got)
	}
	info, err := os.Stat(p.Kubeconfig())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("kubeconfig: %v, %v", info, err)
	}
	st, err := p.Status(t.Context())
	if err != nil || st.State != Up || st.Kubernetes != "v1.36.1" || st.Server != s.server.URL {
		t.Errorf("status: %+v, %v", st, err)
	}

	// The second time there is nothing to be said, built or asked but for a probe.
	said := s.said.String()
	if err := p.Up(t.Context()); err != nil || len(s.calls()) != 2 || s.said.String() != said {
		t.Errorf("again: %v, calls %q", err, s.calls())
	}
	for _, f := range s.kept() {
		if strings.Contains(f, "candidate") {
			t.Errorf("left %s", f)
		}
	}

	// Down needs no context named.
	t.Setenv(contextVar, "")
	t.Setenv(fileVar, "")
	if err := p.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls = s.calls()
	if got := calls[len(calls)-1]; !strings.HasPrefix(got, "guest clean --kubeconfig ") || !strings.HasSuffix(got, " --home "+filepath.Join(s.root, ".lab")) {
		t.Errorf("called %q", got)
	}
	if got := s.said.String(); !strings.Contains(got, "leaving context \"prod\" at "+s.server.URL+"\nremoving namespace bed-abcde\n") {
		t.Errorf("said %q", got)
	}
	if _, err := os.Stat(p.Kubeconfig()); !os.IsNotExist(err) {
		t.Error("the kubeconfig is still there")
	}
	if st, err := p.Status(t.Context()); err != nil || st.State != Down {
		t.Errorf("status: %+v, %v", st, err)
	}
	n := len(s.calls())
	if err := p.Down(t.Context()); err != nil || len(s.calls()) != n {
		t.Errorf("down again: %v", err)
	}
	if after, err := os.ReadFile(s.file); err != nil || !bytes.Equal(before, after) {
		t.Error("the user's kubeconfig has changed")
	}
}

func TestExistingTellsWhatIsMissing(t *testing.T) {
	s, p := newSomebodys(t)
	t.Setenv("ANSWER", `{"kubernetes":"v1.37.2","missing":["create namespaces","impersonate groups"],"role":"kind: ClusterRole\n"}`)
	err := p.Up(t.Context())
	if err == nil || !strings.Contains(err.Error(), "so nothing was made:\n  create namespaces\n  impersonate groups") || !strings.Contains(hint.Of(err), "\nkind: ClusterRole") {
		t.Errorf("err = %v, hint = %q", err, hint.Of(err))
	}
	for _, f := range s.kept() {
		if strings.HasPrefix(f, p.dir()) || f == p.Kubeconfig() {
			t.Errorf("kept %s", f)
		}
	}
	t.Setenv("ANSWER", `{"kubernetes":"v1.30.2-gke.1","old":"v1.34.0","foreign":["widgets.example.com"]}`)
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"warning: Kubernetes v1.30.2-gke.1 is older than v1.34.0", "warning: there is a type widgets.example.com that the course did not make"} {
		if !strings.Contains(s.said.String(), want) {
			t.Errorf("said %q", s.said)
		}
	}
}

func TestExistingForgetsNoCluster(t *testing.T) {
	s, p := newSomebodys(t)
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The same context leads to another server now, and another context is named.
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer other.Close()
	s.user(other.URL)
	if st, err := p.Status(t.Context()); err != nil || st.Server != s.server.URL {
		t.Errorf("status: %+v, %v", st, err)
	}
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st, err := p.Status(t.Context()); err != nil || st.Server != other.URL {
		t.Errorf("status: %+v, %v", st, err)
	}
	t.Setenv(contextVar, "dev")
	if st, err := p.Status(t.Context()); err != nil || st.State != Down {
		t.Errorf("status of a context that was not used: %+v, %v", st, err)
	}
	s.built(strings.Replace(fakeGuest, "clean) ", `clean) grep -q "`+other.URL+`" "$3" && { echo "error: dial: refused" >&2; exit 1; }; `, 1))
	if err := os.Remove(filepath.Join(s.root, "bin", "guest")); err != nil {
		t.Fatal(err)
	}
	err := p.Down(t.Context())
	if err == nil || !strings.Contains(err.Error(), `leave context "prod" at `+other.URL+`: dial: refused`) || !strings.Contains(hint.Of(err), "rm -r '"+p.dir()) {
		t.Errorf("err = %v, hint = %q", err, hint.Of(err))
	}
	left, err := p.memories()
	if err != nil || len(left) != 1 || left[0].about.Server != other.URL {
		t.Errorf("left %+v, %v", left, err)
	}
	s.built(fakeGuest)
	if err := os.Remove(filepath.Join(s.root, "bin", "guest")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ANSWER", `{"removed":[],"shared":["namespace bed-other"],"held":["type a.example.com: there are objects"]}`)
	if err := p.Down(t.Context()); err == nil || !strings.Contains(err.Error(), "left on the cluster:\n  type a.example.com") {
		t.Errorf("err = %v", err)
	}
	if !strings.Contains(s.said.String(), "left alone, others use it just now: namespace bed-other") {
		t.Errorf("said %q", s.said)
	}
	t.Setenv("ANSWER", "")
	if err := p.Down(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := p.memories(); err != nil || len(left) > 0 {
		t.Errorf("left %+v, %v", left, err)
	}
}

func TestExistingTakesOverNewCredentials(t *testing.T) {
	s, p := newSomebodys(t)
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	s.write("user/config", strings.Replace(string(data), "secret", "fresh", 1))
	s.built(strings.Replace(fakeGuest, "clean) ", `clean) cat "$3" >&2; `, 1))
	if err := os.Remove(filepath.Join(s.root, "bin", "guest")); err != nil {
		t.Fatal(err)
	}
	if err := p.Down(t.Context()); err != nil || !strings.Contains(s.said.String(), "token: fresh") {
		t.Errorf("err = %v, said %q", err, s.said)
	}
	if _, err := os.Stat(p.Kubeconfig()); !os.IsNotExist(err) {
		t.Error("the kubeconfig is still there")
	}
}

func TestExistingLeavesAnotherProvidersKubeconfig(t *testing.T) {
	s, p := newSomebodys(t)
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.write(".lab/kubeconfig", "another's")
	if st, err := p.Status(t.Context()); err != nil || st.State != Down {
		t.Errorf("status: %+v, %v", st, err)
	}
	if err := p.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(p.Kubeconfig()); err != nil || string(data) != "another's" {
		t.Errorf("kubeconfig = %q, %v", data, err)
	}
}

func TestExistingThatDoesNotAnswer(t *testing.T) {
	s, p := newSomebodys(t)
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.server.Close()
	if st, err := p.Status(t.Context()); err != nil || st.State != Degraded || st.Reason == "" {
		t.Errorf("status: %+v, %v", st, err)
	}
	s.built("echo 'error: ask the API server for its version: connection refused' >&2; exit 1\n")
	if err := os.Remove(filepath.Join(s.root, "bin", "guest")); err != nil {
		t.Fatal(err)
	}
	err := p.Up(t.Context())
	if err == nil || !strings.Contains(err.Error(), `context "prod" at `+s.server.URL+": ask the API server") || !strings.Contains(hint.Of(err), "--context=prod get namespaces") {
		t.Errorf("err = %v, hint = %q", err, hint.Of(err))
	}
}

// The copy holds one context and all of it, whatever lab itself understands.
func TestTheCopyIsMinimalAndWhole(t *testing.T) {
	t.Setenv("HOME", "/home of the user")
	t.Setenv("XDG_CACHE_HOME", "/cache")
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, "")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "config")
	err := os.WriteFile(file, []byte(`
contexts: [{name: a, context: {cluster: k, user: u, namespace: web}}, {name: b, context: {cluster: other, user: other}}]
clusters:
- {name: k, cluster: {server: "https://127.0.0.1:6443", certificate-authority: pki/ca.crt, proxy-url: "http://p:1", disable-compression: true}}
- {name: other, cluster: {server: "https://example.com"}}
users:
- {name: other, user: {token: not-this}}
- name: u
  user:
    client-certificate: ../user.crt
    client-key: /abs/user.key
    tokenFile: token
    auth-provider: {name: oidc, config: {idp-issuer-url: "https://id.example.com"}}
    exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, args: [a, b], env: [{name: X, value: "1"}], interactiveMode: Never}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	c, err := choose(file, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "a",
		"contexts": []any{map[string]any{"name": "a", "context": map[string]any{"cluster": "k", "user": "u", "namespace": "web"}}},
		"clusters": []any{map[string]any{"name": "k", "cluster": map[string]any{
			"server": "https://127.0.0.1:6443", "certificate-authority": filepath.Join(dir, "pki/ca.crt"), "proxy-url": "http://p:1", "disable-compression": true,
		}}},
		"users": []any{map[string]any{"name": "u", "user": map[string]any{
			"client-certificate": filepath.Join(filepath.Dir(dir), "user.crt"), "client-key": "/abs/user.key", "tokenFile": filepath.Join(dir, "token"),
			"auth-provider": map[string]any{"name": "oidc", "config": map[string]any{"idp-issuer-url": "https://id.example.com"}},
			"exec": map[string]any{
				"apiVersion": "client.authentication.k8s.io/v1", "command": filepath.Join(dir, "bin/login"), "args": []any{"a", "b"}, "interactiveMode": "Never",
				"env": []any{
					map[string]any{"name": "X", "value": "1"},
					map[string]any{"name": "HOME", "value": "/home of the user"},
					map[string]any{"name": "XDG_CACHE_HOME", "value": "/cache"},
				},
			},
		}}},
	}
	var got map[string]any
	if err := yaml.Unmarshal(c.kubeconfig, &got); err != nil {
		t.Fatal(err)
	}
	wantText, _ := yaml.Marshal(want)
	gotText, _ := yaml.Marshal(got)
	if !bytes.Equal(wantText, gotText) {
		t.Errorf("got\n%s\nwant\n%s", gotText, wantText)
	}
}

func TestExistingKubectl(t *testing.T) {
	s, p := newSomebodys(t)
	if err := p.Kubectl(t.Context(), nil, nil, nil, nil); hint.Of(err) != "run make cluster-up" {
		t.Errorf("before up: %v", err)
	}
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", s.bin)
	if err := p.Kubectl(t.Context(), nil, nil, nil, nil); err == nil || !strings.Contains(hint.Of(err), p.Kubeconfig()) {
		t.Errorf("without kubectl: %v", err)
	}
	s.script("kubectl", `echo "$KUBECONFIG $*"`)
	var out bytes.Buffer
	if err := p.Kubectl(t.Context(), []string{"get", "pods"}, nil, &out, nil); err != nil || out.String() != p.Kubeconfig()+" get pods\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}
