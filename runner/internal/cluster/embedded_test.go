package cluster

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/controllings/controllings/runner/internal/hint"
)

// fakePlane is a bin/controlplane that keeps a kubeconfig as the real one does.
const fakePlane = `echo "plane $*" >>"$CALLS"
case $1 in
up)
	mkdir -p "$3"; echo "starting" >&2
	echo "kubeconfig of $3" >"$3/kubeconfig" ;;
down) ;;
status)
	echo '{"state":"degraded","kubernetes":"v1.37.2","server":"https://127.0.0.1:1","reason":"etcd has failed","components":[{"name":"etcd","pid":7,"state":"failed","restarts":3,"exit":"exit status 1","log":["panic: x"]}]}'
	exit 2 ;;
logs) echo "a line" ;;
restart)
	case $5 in
	kube-apiserver) echo "restarted $5" ;;
	*) printf 'error: no component "%s"\nhint:  there are: etcd\n' "$5" >&2; exit 1 ;;
	esac ;;
compact | nodes | restore) echo "$1 done" ;;
kubectl) echo "KUBECONFIG=$KUBECONFIG"; cat; exit 3 ;;
esac
`

func newFake(t *testing.T) (*course, *embedded) {
	t.Helper()
	c := newCourse(t)
	c.script("go", goodGo)
	c.built(fakePlane)
	return c, c.open()
}

func TestUpBuildsStartsAndPublishesTheKubeconfig(t *testing.T) {
	c, p := newFake(t)
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(c.root, ".lab", "clusters", "embedded")
	if got := c.calls()[len(c.calls())-1]; got != "plane up --dir "+dir {
		t.Errorf("called %q", got)
	}
	data, err := os.ReadFile(p.Kubeconfig())
	if err != nil || string(data) != "kubeconfig of "+dir+"\n" {
		t.Errorf("kubeconfig = %q, %v", data, err)
	}
	if info, err := os.Stat(p.Kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if !strings.Contains(c.said.String(), "starting\n") {
		t.Errorf("the control plane's progress is lost: %q", c.said)
	}
	if err := p.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.Kubeconfig()); !os.IsNotExist(err) {
		t.Error("after down there is still a kubeconfig")
	}
}

func TestDownLeavesAnotherProvidersKubeconfig(t *testing.T) {
	c, p := newFake(t)
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.write(".lab/kubeconfig", "another's")
	if err := p.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.Kubeconfig()); err != nil {
		t.Error(err)
	}
}

func TestAClusterThatRunsIsNotStartedAgain(t *testing.T) {
	c, p := newFake(t)
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	const running = `{"phase":"ready","components":[{"name":"etcd","state":"running"}]}`
	for name, f := range map[string]struct {
		state, server string
		starts        bool
	}{
		"all is well":         {running, server.URL, false},
		"a component is not":  {strings.Replace(running, "running", "failed", 1), server.URL, true},
		"starting":            {strings.Replace(running, "ready", "starting", 1), server.URL, true},
		"no answer":           {running, "http://127.0.0.1:1", true},
		"a state cut short":   {running[:20], server.URL, true},
		"a state that is old": {"", server.URL, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.write(".lab/clusters/embedded/state", f.state)
			c.write(".lab/clusters/embedded/kubeconfig", plainKubeconfig(f.server))
			before := len(c.calls())
			if err := p.Up(t.Context()); err != nil {
				t.Fatal(err)
			}
			if started := len(c.calls()) > before; started != f.starts {
				t.Errorf("started = %v, want %v", started, f.starts)
			}
		})
	}
}

func TestWhatTheControlPlaneSaysBecomesTheError(t *testing.T) {
	c, p := newFake(t)
	c.built("echo working >&2; printf 'error: start etcd: exit status 1\\n  its last line\\nhint:  free some space\\n' >&2; exit 1\n")
	err := p.Up(t.Context())
	if err == nil || err.Error() != "start etcd: exit status 1\n  its last line" || hint.Of(err) != "free some space" {
		t.Errorf("err = %v, hint = %q", err, hint.Of(err))
	}
	if got := c.said.String(); !strings.Contains(got, "working\n") || strings.Contains(got, "error:") {
		t.Errorf("said %q", got)
	}
}

func TestCtrlCReachesTheControlPlane(t *testing.T) {
	c, p := newFake(t)
	c.built(`trap 'echo "error: interrupted; nothing is left running" >&2; exit 1' INT
echo up >>"$CALLS"
while :; do sleep 0.01; done
`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		until(ctx, func() bool { return len(c.calls()) >= 3 }) // list, build, up
		cancel()
	}()
	if err := p.Up(ctx); err == nil || !strings.Contains(err.Error(), "nothing is left running") {
		t.Errorf("err = %v", err)
	}
}

func TestStatus(t *testing.T) {
	_, p := newFake(t)
	if st, err := p.Status(t.Context()); err != nil || st.State != Down || st.Provider != "embedded" {
		t.Errorf("before it is built: %+v, %v; want down", st, err)
	}
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	st, err := p.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.State != Degraded || st.Kubernetes != "v1.37.2" || st.Reason != "etcd has failed" || len(st.Components) != 1 {
		t.Fatalf("state = %+v", st)
	}
	if got := st.Components[0]; got.Name != "etcd" || got.PID != 7 || got.Restarts != 3 || got.Exit != "exit status 1" || len(got.Log) != 1 {
		t.Errorf("component = %+v", got)
	}
}

func TestKubectlAndLogs(t *testing.T) {
	_, p := newFake(t)
	if err := p.Kubectl(t.Context(), nil, nil, nil, nil); hint.Of(err) == "" {
		t.Errorf("before it is built: %v", err)
	}
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := p.Kubectl(t.Context(), []string{"apply", "-f", "-"}, strings.NewReader("input"), &out, nil)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || out.String() != "KUBECONFIG="+p.Kubeconfig()+"\ninput" {
		t.Errorf("kubectl: %v, %q", err, out.String())
	}
	out.Reset()
	if err := p.Logs(t.Context(), &out, "etcd", false); err != nil || out.String() != "a line\n" {
		t.Errorf("logs: %v, %q", err, out.String())
	}
}

func TestControl(t *testing.T) {
	c, p := newFake(t)
	var out bytes.Buffer
	if err := p.Restore(t.Context(), &out); hint.Of(err) == "" {
		t.Errorf("before it is built: %v", err)
	}
	if err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.ControlFile() != filepath.Join(c.root, ".lab", "clusters", "embedded", "control") {
		t.Errorf("control file %q", p.ControlFile())
	}
	if err := p.Component(t.Context(), &out, "restart", "kube-apiserver"); err != nil || out.String() != "restarted kube-apiserver\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	for name, do := range map[string]func() error{
		"compact":      func() error { return p.Compact(t.Context(), &out) },
		"nodes add":    func() error { return p.AddNodes(t.Context(), &out, -3) },
		"nodes remove": func() error { return p.RemoveNodes(t.Context(), &out) },
		"restore":      func() error { return p.Restore(t.Context(), &out) },
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		called := c.calls()[len(c.calls())-1]
		want := "plane " + name + " --dir " + filepath.Dir(p.ControlFile()) + " --"
		if name == "nodes add" {
			want += " -3"
		}
		if called != want {
			t.Errorf("called %q, want %q", called, want)
		}
	}
	err := p.Component(t.Context(), &out, "restart", "--all")
	if err == nil || err.Error() != `no component "--all"` || hint.Of(err) != "there are: etcd" {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
}

func TestOpen(t *testing.T) {
	if _, err := Open(Options{Name: "cloud"}); err == nil || !strings.Contains(hint.Of(err), "embedded") {
		t.Errorf("err = %v, hint = %q", err, hint.Of(err))
	}
	p, err := Open(Options{Root: "/course", Home: "/elsewhere"})
	if err != nil || p.Name() != "embedded" || p.Kubeconfig() != "/elsewhere/kubeconfig" {
		t.Errorf("%v, %v", p, err)
	}
}
