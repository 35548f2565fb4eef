package plane

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/endpoint"
	"github.com/controllings/controllings/controlplane/supervise"
)

// running is a control plane that is up, and a client of its control endpoint.
func running(t *testing.T) (Dir, *endpoint.Client) {
	t.Helper()
	d := plane(t, nil)
	if _, err := up(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
	c, err := d.Control()
	if err != nil {
		t.Fatal(err)
	}
	return d, c
}

// of returns one component's status, as the file tells it.
func (d Dir) of(t *testing.T, name string) supervise.Status {
	t.Helper()
	i := slices.Index(component.Names(), name)
	if st := d.Status(t.Context()); i < len(st.Components) {
		return st.Components[i]
	}
	return supervise.Status{}
}

func codeOf(err error) int {
	var known *endpoint.Error
	if errors.As(err, &known) {
		return known.Code
	}
	return 0
}

func TestRestartGivesAnotherProcessAtTheSamePort(t *testing.T) {
	d, c := running(t)
	server := d.Status(t.Context()).Server
	for _, name := range component.Names() {
		before := d.of(t, name).PID
		for range 4 { // more often than deaths are forgiven
			if err := c.Component(t.Context(), "restart", name); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		eventually(t, name+" runs again", func() bool {
			st := d.of(t, name)
			return st.State == supervise.Running && st.PID != before && st.Restarts == 0
		})
		if err := newAPI(server, d.trust()).ready(t.Context()); err != nil {
			t.Errorf("after the restart of %s: %v", name, err)
		}
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
	if st := d.Status(t.Context()); st.Server != server {
		t.Errorf("it is at %s, was at %s", st.Server, server)
	}
}

func TestWhatIsStoppedStaysDownAndStatusSaysSo(t *testing.T) {
	d, c := running(t)
	for range 2 { // the second time there is nothing to do
		if err := c.Component(t.Context(), "stop", "kube-apiserver"); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "status says it", func() bool {
		st := d.Status(t.Context())
		return st.State == Degraded && st.Reason == "kube-apiserver is stopped, as asked" && !st.broken
	})
	if st := d.of(t, "kube-apiserver"); st.State != supervise.Stopped || st.PID != 0 {
		t.Errorf("status = %+v", st)
	}
	// What needs it says so, and does nothing.
	_, errNodes := c.AddNodes(t.Context(), 1, endpoint.ByCheck)
	_, errCompact := c.Compact(t.Context())
	for _, err := range []error{errNodes, errCompact, c.Component(t.Context(), "kill", "kube-apiserver")} {
		if codeOf(err) != http.StatusConflict || !strings.Contains(err.Error(), "kube-apiserver is stopped") {
			t.Errorf("err = %v", err)
		}
	}
	for range 2 {
		if err := c.Component(t.Context(), "start", "kube-apiserver"); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
}

// The port is refused to others while nobody listens there.
func TestAStoppedAPIServersPortIsKept(t *testing.T) {
	d, c := running(t)
	if err := c.Component(t.Context(), "stop", "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(d.Status(t.Context()).Server, "https://")
	if conn, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("connect: %v, %v; want it refused", conn, err)
	}
	hold, err := holdPort(0)
	if err != nil {
		t.Fatal(err)
	}
	if hold == nil {
		t.Skip("ports are held on Linux only")
	}
	_ = hold.Close()
	if l, err := net.Listen("tcp", address); err == nil {
		_ = l.Close()
		t.Error("another program could have it")
	}
}

func TestWhatIsKilledIsRestartedByTheSupervisor(t *testing.T) {
	d, c := running(t)
	for n := 1; n <= 4; n++ {
		before := d.of(t, "kwok").PID
		if err := c.Component(t.Context(), "kill", "kwok"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "another one runs", func() bool {
			st := d.of(t, "kwok")
			return st.State == supervise.Running && st.PID != before && st.Exit == "signal: killed" && st.Restarts == n
		})
	}
}

func TestUnknownComponent(t *testing.T) {
	d, c := running(t)
	for _, verb := range []string{"restart", "stop", "start", "kill"} {
		err := c.Component(t.Context(), verb, "kube-proxy")
		var known *endpoint.Error
		if !errors.As(err, &known) || err.Error() != `no component "kube-proxy"` || !strings.Contains(known.Hint, "etcd, kube-apiserver,") {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if st := d.Status(t.Context()); st.State != Up {
		t.Errorf("status = %+v", st)
	}
}

func TestTheAPIServerIsNotStartedWithoutEtcd(t *testing.T) {
	d, c := running(t)
	for _, name := range []string{"kube-apiserver", "etcd"} {
		if err := c.Component(t.Context(), "stop", name); err != nil {
			t.Fatal(err)
		}
	}
	for _, verb := range []string{"start", "restart"} {
		if err := c.Component(t.Context(), verb, "kube-apiserver"); codeOf(err) != http.StatusConflict || !strings.Contains(err.Error(), "etcd is stopped") {
			t.Errorf("err = %v", err)
		}
	}
	for _, name := range []string{"etcd", "kube-apiserver"} { // the other order
		if err := c.Component(t.Context(), "start", name); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
}

func TestAStartThatFailsSaysWhy(t *testing.T) {
	d, c := running(t)
	kwokDies(t, d)
	err := c.Component(t.Context(), "restart", "kwok")
	// It may have been seen running for a moment; then its end is the status's.
	if err != nil && (!strings.Contains(err.Error(), "start kwok: exit status 2") || !strings.Contains(err.Error(), "checksum does not match")) {
		t.Errorf("err = %v", err)
	}
	eventually(t, "it has failed", func() bool { return d.of(t, "kwok").State == supervise.Failed })
	kwokLives(t, d)
	if err := c.Component(t.Context(), "start", "kwok"); err != nil {
		t.Error(err)
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
}

func TestCompactWaitsUntilTheAPIServerHasForgotten(t *testing.T) {
	d, c := running(t)
	rev, err := c.Compact(t.Context())
	if err != nil || rev != 78 {
		t.Fatalf("%d, %v", rev, err)
	}
	asked, err := os.ReadFile(d.path("compacted"))
	if err != nil || strings.Count(string(asked), "/api/v1/nodes\n") != stillAnswered+1 || strings.Count(string(asked), "/apis/apps/v1/deployments\n") != 1 {
		t.Errorf("asked: %q, %v", asked, err)
	}
	if strings.Contains(string(asked), "bindings") || strings.Contains(string(asked), "gone") {
		t.Errorf("what can't be listed was asked for: %q", asked)
	}
	if err := os.WriteFile(d.path("no-compact"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compact(t.Context()); err == nil || err.Error() != "compact etcd: no leader" {
		t.Errorf("err = %v", err)
	}
}

func TestNodesAreAddedAndRemoved(t *testing.T) {
	_, c := running(t)
	for _, tc := range []struct {
		by   string
		want []string
	}{
		{endpoint.ByUser, []string{"node-4", "node-5"}}, // node-3 is somebody's
		{endpoint.ByCheck, []string{"node-6", "node-7"}},
	} {
		if names, err := c.AddNodes(t.Context(), 2, tc.by); err != nil || !slices.Equal(names, tc.want) {
			t.Errorf("added %q, %v; want %q", names, err, tc.want)
		}
	}
	if did, err := c.Restore(t.Context()); err != nil || !slices.Equal(did, []string{"removed node-6, node-7"}) {
		t.Errorf("restore: %q, %v", did, err)
	}
	if names, err := c.AddNodes(t.Context(), 1, endpoint.ByCheck); err != nil || !slices.Equal(names, []string{"node-6"}) {
		t.Errorf("added %q, %v", names, err)
	}
	if _, err := c.RemoveNodes(t.Context(), "x,y"); codeOf(err) != http.StatusBadRequest {
		t.Errorf("err = %v", err)
	}
	if names, err := c.RemoveNodes(t.Context(), ""); err != nil || !slices.Equal(names, []string{"node-4", "node-5", "node-6"}) {
		t.Errorf("removed %q, %v", names, err)
	}
	if names, err := c.RemoveNodes(t.Context(), ""); err != nil || len(names) != 0 {
		t.Errorf("again: %q, %v", names, err)
	}
}

func TestRestoreStartsWhatIsStoppedOrHasFailed(t *testing.T) {
	d, c := running(t)
	kwokDies(t, d)
	if err := syscall.Kill(d.of(t, "kwok").PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kube-apiserver", "etcd", "kube-scheduler"} {
		if err := c.Component(t.Context(), "stop", name); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "kwok has failed", func() bool { return d.of(t, "kwok").State == supervise.Failed })
	kwokLives(t, d)
	did, err := c.Restore(t.Context())
	want := []string{"started etcd", "started kube-apiserver", "started kube-scheduler", "started kwok"}
	if err != nil || len(did) < 4 || !slices.Equal(did[:4], want) { // kwok needs its time to fail, so others are roused
		t.Errorf("%q, %v; want %q", did, err, want)
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
	if did, err := c.Restore(t.Context()); err != nil || len(did) != 0 {
		t.Errorf("again: %q, %v", did, err)
	}
}

// After a long absence of the API server its clients wait before they try again;
// whoever comes next would wait with them.
func TestRestoreRousesThoseWhoWaitToTryAgain(t *testing.T) {
	d, c := running(t)
	before := d.of(t, "kwok").PID
	if err := c.Component(t.Context(), "stop", "etcd"); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	eventually(t, "it was away for long", func() bool { return time.Since(stopped) > awayLong })
	if err := c.Component(t.Context(), "start", "etcd"); err != nil {
		t.Fatal(err)
	}
	did, err := c.Restore(t.Context())
	if want := []string{"restarted kube-controller-manager, kube-scheduler, kwok, which were waiting to try again"}; err != nil || !slices.Equal(did, want) {
		t.Errorf("%q, %v; want %q", did, err, want)
	}
	eventually(t, "another one runs", func() bool {
		st := d.of(t, "kwok")
		return st.State == supervise.Running && st.PID != before && st.Restarts == 0
	})
	if did, err := c.Restore(t.Context()); err != nil || len(did) != 0 {
		t.Errorf("again: %q, %v", did, err)
	}
}

func TestUpStartsWhatWasStopped(t *testing.T) {
	d, c := running(t)
	before, err := d.readState()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Component(t.Context(), "stop", "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the state file says it", func() bool { return d.of(t, "kube-apiserver").State == supervise.Stopped })
	var said bytes.Buffer
	err = d.Up(t.Context(), UpOptions{Timeout: 20 * time.Second, Kubernetes: "v1.0.0", Progress: &said})
	if err != nil || !strings.Contains(said.String(), "kube-apiserver is stopped, as asked: starting it again\nstarted kube-apiserver\n") {
		t.Errorf("%v; said %q", err, said.String())
	}
	if after, err := d.readState(); err != nil || after.Supervisor != before.Supervisor {
		t.Errorf("supervisor %d, %v; want the same", after.Supervisor, err)
	}
}

func TestDownWhileSomethingIsStoppedOrBeingStarted(t *testing.T) {
	d, c := running(t)
	if err := c.Component(t.Context(), "stop", "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.path("unready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Component(context.Background(), "start", "kube-apiserver") }() // waits for what won't come
	eventually(t, "it is started", func() bool { return d.of(t, "kube-apiserver").State == supervise.Running })
	if err := d.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the start says that all is well")
	}
	if _, err := os.Stat(d.ControlFile()); !errors.Is(err, os.ErrNotExist) {
		t.Error("the control file is left")
	}
	if _, err := d.Control(); codeOf(err) != http.StatusServiceUnavailable {
		t.Errorf("err = %v", err)
	}
}

func TestTwoCommandsAtOnce(t *testing.T) {
	d, c := running(t)
	var wg sync.WaitGroup
	for range 3 {
		for _, verb := range []string{"restart", "stop", "start"} {
			wg.Go(func() {
				if err := c.Component(t.Context(), verb, "kube-apiserver"); err != nil {
					t.Errorf("%s: %v", verb, err)
				}
			})
		}
	}
	wg.Wait()
	if err := c.Component(t.Context(), "start", "kube-apiserver"); err != nil {
		t.Error(err)
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
}

// The supervisor of a kill -9 can't tidy up: its file leads nowhere, and the next
// one has another token.
func TestAStaleControlFile(t *testing.T) {
	d, _ := running(t)
	old, err := endpoint.ReadFile(d.ControlFile())
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.readState()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(r.Supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is down", func() bool { return d.Status(t.Context()).State == Down })
	if _, err := os.Stat(d.ControlFile()); err != nil {
		t.Fatal("the file is gone: then this test shows nothing")
	}
	if _, err := d.Control(); err == nil || err.Error() != "the control plane is down" {
		t.Errorf("err = %v", err)
	}
	if _, err := endpoint.NewClient(d.ControlFile()).Components(t.Context()); codeOf(err) != http.StatusServiceUnavailable {
		t.Errorf("err = %v", err)
	}
	if _, err := up(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if f, err := endpoint.ReadFile(d.ControlFile()); err != nil || f.Token == old.Token {
		t.Errorf("the old token is still good, or %v", err)
	}
}

func TestPortsThatAreHeld(t *testing.T) {
	d := plane(t, nil)
	c, hold, err := d.takePort(false)
	if err != nil {
		t.Fatal(err)
	}
	if hold == nil {
		t.Skip("ports are held on Linux only")
	}
	defer hold.Close()
	// Another control plane that remembers the same port gets one of its own.
	other, second, err := d.takePort(false)
	if err != nil || other.APIPort == c.APIPort {
		t.Errorf("%+v and %+v, %v", c, other, err)
	}
	_ = second.Close()
}
