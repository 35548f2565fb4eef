package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// does runs a command on the cluster, and fails unless it works.
func (c cluster) does(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// refuses runs a command that has to say why it can't be done.
func (c cluster) refuses(t *testing.T, says, hint string, args ...string) {
	t.Helper()
	out, err := c.command(args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "error: "+says) || !strings.Contains(string(out), "hint:  "+hint) {
		t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (c cluster) of(t *testing.T, name string) component {
	t.Helper()
	for _, k := range c.status(t).Components {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("no component %s", name)
	return component{}
}

// The API server is restarted ten times under somebody who never stops asking: a
// client that only tries again gets through, at the same port, and finds what
// was there.
func TestTheAPIServerIsRestartedUnderAPoller(t *testing.T) {
	c := fresh(t)
	c.up(t)
	admin, server := c.admin(t), c.status(t).Server
	admin.create("/api/v1/namespaces/default/configmaps", obj{"metadata": obj{"name": "kept"}})

	polling, stop := context.WithCancel(t.Context())
	var asked, answered int
	var wrong []string
	var wg sync.WaitGroup
	wg.Go(func() {
		for polling.Err() == nil {
			code, got := admin.do(polling, http.MethodGet, "/api/v1/namespaces/default/configmaps/kept", nil)
			asked++
			switch {
			case code == http.StatusOK:
				answered++
			// While it starts it refuses: its authorizer has read nothing yet.
			case code != 0 && code != http.StatusForbidden && code < 500 && polling.Err() == nil:
				wrong = append(wrong, fmt.Sprint(code, " ", got["message"]))
			}
			select {
			case <-polling.Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	pids := map[int]bool{c.of(t, "kube-apiserver").PID: true}
	var slowest time.Duration
	for round := range 10 {
		begin := time.Now()
		c.does(t, "restart", "kube-apiserver")
		took := time.Since(begin)
		slowest = max(slowest, took)
		if took > factor(30*time.Second) {
			t.Errorf("round %d took %s", round, took)
		}
		// At once, not after some more tries.
		if code, got := c.admin(t).do(t.Context(), http.MethodGet, "/api/v1/namespaces/default/configmaps/kept", nil); code != http.StatusOK {
			t.Errorf("round %d: %d %v", round, code, got["message"])
		}
		pids[c.of(t, "kube-apiserver").PID] = true
	}
	stop()
	wg.Wait()
	if s := c.status(t); s.State != "up" || s.Server != server || c.of(t, "kube-apiserver").Restarts != 0 {
		t.Errorf("status = %+v, was at %s", s, server)
	}
	if len(pids) != 11 {
		t.Errorf("%d processes in 10 restarts", len(pids))
	}
	if len(wrong) > 0 || answered == 0 || answered == asked {
		t.Errorf("%d of %d answered; wrong: %q", answered, asked, wrong)
	}
	t.Logf("slowest restart: %s; %d of %d requests answered", slowest.Round(time.Millisecond), answered, asked)
}

func TestWhatIsStoppedStaysDown(t *testing.T) {
	c := fresh(t)
	c.up(t)
	server := c.status(t).Server
	c.does(t, "stop", "kube-apiserver")
	if s := c.status(t); s.code != 2 || s.State != "degraded" || s.Reason != "kube-apiserver is stopped, as asked" {
		t.Errorf("status = %+v", s)
	}
	if k := c.of(t, "kube-apiserver"); k.State != "stopped" || k.PID != 0 {
		t.Errorf("kube-apiserver: %+v", k)
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", u.Host); err == nil {
		_ = conn.Close()
		t.Error("somebody answers at its port")
	}
	c.refuses(t, "ask the API server: kube-apiserver is stopped", "start it first", "nodes", "add", "1")
	c.refuses(t, "ask the API server: kube-apiserver is stopped", "start it first", "compact")
	c.refuses(t, "kill what does not run", "start it first", "kill", "kube-apiserver")
	c.refuses(t, `no component "apiserver"`, "there are: etcd, kube-apiserver", "stop", "apiserver")

	t.Run("up starts it", func(t *testing.T) {
		if out := c.up(t); !strings.Contains(out, "started kube-apiserver") {
			t.Errorf("up said %q", out)
		}
		if s := c.status(t); s.State != "up" || s.Server != server {
			t.Errorf("status = %+v", s)
		}
	})
	t.Run("down while it is stopped", func(t *testing.T) {
		c.does(t, "stop", "etcd")
		c.does(t, "stop", "kube-apiserver")
		c.refuses(t, "start kube-apiserver: etcd is stopped", "start it first", "start", "kube-apiserver")
		pids := c.processes(t)
		delete(pids, "etcd")
		delete(pids, "kube-apiserver")
		c.down(t)
		gone(t, pids)
		free(t, server)
		c.refuses(t, "the control plane is down", "start it: lab cluster up", "restart", "etcd")
		if _, err := os.Stat(filepath.Join(c.dir, "control")); !os.IsNotExist(err) {
			t.Error("the control file is left")
		}
	})
}

// The nodes' leases are held under a name that is new at each start of kwok: a
// kwok that waited for its predecessor's to end would leave Pods Pending for
// most of a minute.
func TestPodsStartSoonAfterKwokWasStartedAgain(t *testing.T) {
	c := fresh(t)
	c.up(t)
	admin := c.admin(t)
	ns := admin.namespace()
	runs := func(name string) {
		t.Helper()
		admin.create("/api/v1/namespaces/"+ns+"/pods", obj{"metadata": obj{"name": name}, "spec": obj{"containers": []obj{{"name": "c", "image": "i"}}}})
		admin.until("/api/v1/namespaces/"+ns+"/pods/"+name, func(_ int, o obj) bool { return field(o, "status", "phase") == "Running" })
	}
	runs("before") // and so the leases are held
	c.does(t, "restart", "kwok")
	runs("after-a-restart")
	c.does(t, "kill", "kwok")
	runs("after-a-kill")
	c.down(t)
	c.up(t)
	admin = c.admin(t)
	runs("after-another-start")
}

// Whoever depends on the API server outlives its absence (no component uses up
// its restarts), and works at once when everything is put back.
func TestTheOthersOutliveALongAbsenceOfTheAPIServer(t *testing.T) {
	c := fresh(t)
	c.up(t)
	c.does(t, "stop", "kube-apiserver")
	away := time.After(12 * time.Second)
	for waiting := true; waiting; {
		select {
		case <-away:
			waiting = false
		case <-time.After(500 * time.Millisecond):
			for _, k := range c.status(t).Components {
				if k.State == "failed" {
					t.Fatalf("%+v", k)
				}
			}
		}
	}
	if out := c.does(t, "restore"); !strings.Contains(out, "started kube-apiserver\nrestarted kube-controller-manager") {
		t.Errorf("restore said %q", out)
	}
	admin := c.admin(t)
	ns := admin.namespace() // the controller manager makes its ServiceAccount
	admin.create("/api/v1/namespaces/"+ns+"/pods", obj{"metadata": obj{"name": "p"}, "spec": obj{"containers": []obj{{"name": "c", "image": "i"}}}})
	admin.until("/api/v1/namespaces/"+ns+"/pods/p", func(_ int, o obj) bool { return field(o, "status", "phase") == "Running" })
	if s := c.status(t); s.State != "up" {
		t.Errorf("status = %+v", s)
	}
}

func TestAKillIsSeenAndMendedByTheSupervisor(t *testing.T) {
	c := fresh(t)
	c.up(t)
	for n := 1; n <= 4; n++ { // once more than crashes are forgiven
		pid := c.of(t, "kube-apiserver").PID
		c.does(t, "kill", "kube-apiserver")
		eventually(t, 30*time.Second, func(context.Context) string {
			k, s := c.of(t, "kube-apiserver"), c.status(t)
			if s.State == "up" && k.PID != pid && k.PID != 0 && k.Exit == "signal: killed" {
				return ""
			}
			return fmt.Sprintf("%+v", s)
		})
	}
}

func TestCompactedIsForgotten(t *testing.T) {
	c := fresh(t)
	c.up(t)
	admin := c.admin(t)
	for i := range 5 {
		admin.create("/api/v1/namespaces/default/configmaps", obj{"metadata": obj{"name": fmt.Sprint("m", i)}})
	}
	const maps, nodes = "/api/v1/namespaces/default/configmaps", "/api/v1/nodes"
	type page struct{ path, exact, next, version string }
	var before []page
	for _, path := range []string{maps, nodes, "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/api/v1/namespaces/default/events"} {
		code, got := admin.do(t.Context(), http.MethodGet, path+"?limit=1", nil)
		version, _ := field(got, "metadata", "resourceVersion").(string)
		token, _ := field(got, "metadata", "continue").(string)
		if code != http.StatusOK || version == "" {
			t.Fatalf("%s: %d %v", path, code, got)
		}
		p := page{path: path, version: version, exact: path + "?resourceVersionMatch=Exact&resourceVersion=" + version}
		if token != "" {
			p.next = path + "?limit=1&continue=" + url.QueryEscape(token)
		}
		before = append(before, p)
	}
	expired := func(path string, want bool) {
		t.Helper()
		code, got := admin.do(t.Context(), http.MethodGet, path, nil)
		if is := code == http.StatusGone && got["reason"] == "Expired"; is != want || (!want && code != http.StatusOK) {
			t.Errorf("GET %s: %d %v %v, want expired = %v", path, code, got["reason"], got["message"], want)
		}
	}
	// They are good until then, so it is the compaction that spoils them.
	for _, p := range before {
		expired(p.exact, false)
		if p.next != "" {
			expired(p.next, false)
		}
	}
	if out := c.does(t, "compact"); !strings.Contains(out, "forgot all before revision ") {
		t.Errorf("compact said %q", out)
	}
	for _, p := range before {
		expired(p.exact, true)
		if p.next != "" {
			expired(p.next, true)
		}
	}
	// What begins now works, and so does compacting again.
	expired(maps+"?limit=2", false)
	c.does(t, "compact")
	expired(maps, false)

	// A watch from before is served from memory; a restart clears that.
	old := maps + "?watch=1&timeoutSeconds=1&resourceVersion=" + before[0].version
	if code := watchEnds(t, admin, old); code == http.StatusGone {
		t.Errorf("a watch from before the compaction has expired: then the documentation is wrong")
	}
	c.does(t, "restart", "kube-apiserver")
	eventually(t, patience, func(context.Context) string {
		if code := watchEnds(t, c.admin(t), old); code != http.StatusGone {
			return fmt.Sprint("a watch from before the restart: ", code)
		}
		return ""
	})
}

// watchEnds reads a watch to its end, and returns the code of the error in it, or
// 200.
func watchEnds(t *testing.T, a *api, path string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.server+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode
	}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		var e struct {
			Type   string
			Object obj
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if code, ok := e.Object["code"].(float64); ok && e.Type == "ERROR" {
			return int(code)
		}
	}
	return http.StatusOK
}

func TestNodesAreAddedAndRemoved(t *testing.T) {
	c := fresh(t)
	c.up(t)
	admin := c.admin(t)
	if out := c.does(t, "nodes", "add", "3"); out != "added node-3, node-4, node-5\n" {
		t.Errorf("add said %q", out)
	}
	ready := 0
	for _, n := range admin.items(t.Context(), "/api/v1/nodes") {
		conditions, _ := field(n.(obj), "status", "conditions").([]any)
		for _, k := range conditions {
			if field(k.(obj), "type") == "Ready" && field(k.(obj), "status") == "True" {
				ready++
			}
		}
	}
	if ready != 5 {
		t.Errorf("%d nodes are ready, want 5", ready)
	}
	// A Pod runs on one of them.
	ns := admin.namespace()
	admin.create("/api/v1/namespaces/"+ns+"/pods", obj{"metadata": obj{"name": "p"}, "spec": obj{
		"nodeSelector": obj{"kubernetes.io/hostname": "node-5"}, "containers": []obj{{"name": "c", "image": "i"}}}})
	admin.until("/api/v1/namespaces/"+ns+"/pods/p", func(_ int, o obj) bool { return field(o, "status", "phase") == "Running" })
	if out := c.does(t, "nodes", "remove"); out != "removed node-3, node-4, node-5\n" {
		t.Errorf("remove said %q", out)
	}
	if left := admin.items(t.Context(), "/api/v1/nodes"); len(left) != 2 {
		t.Errorf("%d nodes are left, want 2", len(left))
	}
	if out := c.does(t, "nodes", "remove"); !strings.Contains(out, "none were added") {
		t.Errorf("again: %q", out)
	}
	c.refuses(t, "1001 is no number of nodes", "between 1 and 1000", "nodes", "add", "1001")
}

func TestCommandsAtOnceAndAKilledSupervisor(t *testing.T) {
	c := fresh(t)
	c.up(t)
	server := c.status(t).Server
	var wg sync.WaitGroup
	for _, args := range [][]string{{"restart", "kube-apiserver"}, {"restart", "kube-apiserver"}, {"restart", "etcd"}, {"nodes", "add", "2"}} {
		wg.Go(func() {
			if out, err := c.command(args...).CombinedOutput(); err != nil {
				t.Errorf("%q: %v\n%s", args, err, out)
			}
		})
	}
	wg.Wait()
	eventually(t, patience, func(context.Context) string {
		if s := c.status(t); s.State != "up" || s.Server != server {
			return fmt.Sprintf("%+v", s)
		}
		return ""
	})

	// The file of a kill -9 stays, and leads to nobody.
	pids := c.processes(t)
	if err := syscall.Kill(pids["supervisor"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, pids)
	stale, err := os.ReadFile(filepath.Join(c.dir, "control"))
	if err != nil {
		t.Fatal(err)
	}
	c.refuses(t, "the control plane is down", "start it", "restart", "kube-apiserver")
	c.up(t)
	if now, err := os.ReadFile(filepath.Join(c.dir, "control")); err != nil || string(now) == string(stale) {
		t.Errorf("the new file is the old one, or %v", err)
	}
	if out := c.does(t, "restore"); out != "" {
		t.Errorf("restore, with nothing to do, said %q", out)
	}
}
