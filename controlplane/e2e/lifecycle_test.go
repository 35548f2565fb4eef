package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// gone waits until none of the processes is left.
func gone(t *testing.T, pids map[string]int) {
	t.Helper()
	eventually(t, 5*time.Second, func(context.Context) string {
		var left []string
		for name, pid := range pids {
			if alive(pid) {
				left = append(left, name)
			}
		}
		if len(left) == 0 {
			return ""
		}
		return "still there: " + strings.Join(left, ", ")
	})
}

// free fails unless the port of an address can be listened on.
func free(t *testing.T, server string) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", u.Host)
	if err != nil {
		t.Errorf("the port is still taken: %v", err)
		return
	}
	_ = l.Close()
}

func TestTwoUpsAtOnceGiveOneCluster(t *testing.T) {
	c := fresh(t)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if out, err := c.command("up").CombinedOutput(); err != nil {
				t.Errorf("up: %v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	if s := c.status(t); s.State != "up" || s.code != 0 || len(s.Components) != 5 {
		t.Errorf("status = %+v", s)
	}
	out, err := exec.Command("ps", "ax", "-ww", "-o", "args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(out), "supervise --dir "+c.dir); n != 1 {
		t.Errorf("%d supervisors, want 1", n)
	}
	for _, l := range strings.Split(string(out), "\n") {
		if strings.Contains(l, c.dir) && (strings.Contains(l, "PRIVATE KEY") || strings.Contains(l, "token=")) {
			t.Errorf("a secret on a command line: %s", l)
		}
	}
}

func TestWhatIsKilledComesBack(t *testing.T) {
	c := fresh(t)
	c.up(t)
	c.admin(t).create("/api/v1/namespaces/default/configmaps", obj{"metadata": obj{"name": "kept"}})
	kept := func(ctx context.Context) string {
		code, got := c.admin(t).do(ctx, http.MethodGet, "/api/v1/namespaces/default/configmaps/kept", nil)
		if code == http.StatusOK {
			return ""
		}
		return fmt.Sprint(code, " ", got["message"])
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"} {
		pid := c.processes(t)[name]
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, 30*time.Second, func(context.Context) string {
			s := c.status(t)
			for _, k := range s.Components {
				if k.Name == name && k.PID != pid && k.Restarts == 1 && k.Exit == "signal: killed" && s.State == "up" {
					return ""
				}
			}
			return fmt.Sprintf("%s was killed: %+v", name, s)
		})
		eventually(t, patience, kept)
	}

	t.Run("the supervisor", func(t *testing.T) {
		pids := c.processes(t)
		if err := syscall.Kill(pids["supervisor"], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		gone(t, pids)
		if s := c.status(t); s.State != "down" || s.code != 1 {
			t.Errorf("status = %+v, want down", s)
		}
		c.up(t)
		eventually(t, patience, kept)
	})
}

func TestRoundsOfUpAndDownLeaveNothing(t *testing.T) {
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("CONTROLPLANE_ROUNDS")); err == nil {
		rounds = n
	}
	c := fresh(t)
	var server string
	for round := 1; round <= rounds; round++ {
		c.up(t)
		if s := c.status(t).Server; server != "" && s != server {
			t.Errorf("round %d is at %s, the ones before were at %s", round, s, server)
		} else {
			server = s
		}
		pids := c.processes(t)
		if len(pids) != 6 {
			t.Fatalf("processes: %v", pids)
		}
		c.down(t)
		for name, pid := range pids {
			if alive(pid) {
				t.Errorf("round %d left %s", round, name)
			}
		}
		free(t, server)
		c.down(t) // twice is no error
		entries, err := os.ReadDir(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		want := []string{"config", "etcd", "kubeconfig", "lock", "logs", "pki", "ports", "version"}
		if !slices.Equal(names, want) {
			t.Errorf("round %d left %q, want %q", round, names, want)
		}
	}
	if s := c.status(t); s.State != "down" || s.code != 1 || s.Components == nil {
		t.Errorf("status = %+v, want down", s)
	}
}

func TestFilesAreForTheOwnerAlone(t *testing.T) {
	shared.up(t)
	err := filepath.WalkDir(shared.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil // a log's segment that was renamed
		}
		if err != nil {
			return err
		}
		// What etcd makes inside its own folder is behind that folder's mode.
		inside := strings.Contains(path, "/etcd/") || info.Mode()&fs.ModeSocket != 0
		if info.Mode().Perm()&0o077 != 0 && !inside {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLogsHoldNoSecrets(t *testing.T) {
	shared.up(t)
	shared.does(t, "nodes", "remove") // something that needs the control endpoint's token
	var control struct{ Token string }
	data, err := os.ReadFile(filepath.Join(shared.dir, "control"))
	if err == nil {
		err = json.Unmarshal(data, &control)
	}
	if err != nil || control.Token == "" {
		t.Fatalf("the control endpoint's token: %v", err)
	}
	logs, err := filepath.Glob(filepath.Join(shared.dir, "logs", "*"))
	if err != nil || len(logs) < 6 {
		t.Fatalf("logs: %v, %v", logs, err)
	}
	for _, l := range logs {
		data, err := os.ReadFile(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"PRIVATE KEY", "eyJhbGciOi", control.Token} {
			if strings.Contains(string(data), secret) {
				t.Errorf("%s holds %q", l, secret)
			}
		}
	}
}

func TestCtrlCWhileStartingLeavesNothing(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"Ctrl-C": syscall.SIGINT, "kill -9": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			c := fresh(t)
			up := c.command("up")
			var out strings.Builder
			up.Stderr = &out
			if err := up.Start(); err != nil {
				t.Fatal(err)
			}
			var pids map[string]int
			eventually(t, 30*time.Second, func(context.Context) string {
				if _, err := os.Stat(filepath.Join(c.dir, "state")); err != nil {
					return err.Error()
				}
				if pids = c.processes(t); len(pids) < 3 {
					return fmt.Sprint("only ", pids)
				}
				return ""
			})
			if err := up.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := up.Wait(); err == nil {
				t.Error("up says that all is well")
			}
			if signal == syscall.SIGINT && !strings.Contains(out.String(), "error: ") {
				t.Errorf("it said %q", out.String())
			}
			if signal == syscall.SIGKILL { // the supervisor has to notice first
				eventually(t, patience, func(context.Context) string {
					if s := c.status(t); s.State != "down" {
						return s.State + " " + s.Reason
					}
					return ""
				})
			}
			for name, pid := range pids {
				if alive(pid) {
					t.Errorf("%s is left", name)
				}
			}
			if s := c.status(t); s.State != "down" {
				t.Errorf("status = %+v, want down", s)
			}
		})
	}
}

func TestDataThatCantBeUsedIsSetAside(t *testing.T) {
	c := fresh(t)
	c.up(t)
	c.admin(t).create("/api/v1/namespaces/default/configmaps", obj{"metadata": obj{"name": "lost"}})
	c.down(t)
	db := filepath.Join(c.dir, "etcd", "member", "snap", "db")
	if err := os.WriteFile(db, []byte(strings.Repeat("not a database ", 1<<16)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := c.up(t); !strings.Contains(out, "set aside as etcd.aside-") {
		t.Errorf("damaged data: up said %q", out)
	}
	if code, _ := c.admin(t).do(t.Context(), http.MethodGet, "/api/v1/namespaces/default/configmaps/lost", nil); code != http.StatusNotFound {
		t.Errorf("GET of an object that was in it: %d, want 404", code)
	}
	c.down(t)
	if err := os.WriteFile(filepath.Join(c.dir, "version"), []byte("v1.36.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := c.up(t)
	if !strings.Contains(out, "written by Kubernetes v1.36.0") || !strings.Contains(out, "set aside as etcd.aside-") {
		t.Errorf("another version's data: up said %q", out)
	}
	if kept, _ := filepath.Glob(filepath.Join(c.dir, "etcd.aside-*")); len(kept) != 1 {
		t.Errorf("set aside: %q, want the last one only", kept)
	}
}

func TestAPortThatIsTakenIsReplaced(t *testing.T) {
	c := fresh(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// Left-overs that lie: of a run that is over, and a pid that is not ours.
	for name, data := range map[string]string{
		"ports": fmt.Sprintf(`{"APIPort":%d}`, taken),
		"state": fmt.Sprintf(`{"supervisor":%d,"phase":"ready","components":[]}`, os.Getpid()),
	} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s := c.status(t); s.State != "down" {
		t.Errorf("status = %+v, want down", s)
	}
	c.down(t) // must not signal this test
	c.up(t)
	if s := c.status(t); s.State != "up" || strings.HasSuffix(s.Server, fmt.Sprint(":", taken)) {
		t.Errorf("status = %+v, want another port than %d", s, taken)
	}
}

func TestKubectl(t *testing.T) {
	shared.up(t)
	home := t.TempDir()
	cmd := exec.Command(binary, "kubectl", "get", "nodes", "-o", "name")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + filepath.Join(shared.dir, "kubeconfig")}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "node/node-1\nnode/node-2\n" {
		t.Errorf("kubectl get nodes: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(home, ".kube")); !os.IsNotExist(err) {
		t.Error("kubectl made ~/.kube")
	}
	cmd = exec.Command(binary, "kubectl", "get", "nodes")
	cmd.Env = []string{"HOME=" + home}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "hint: ") {
		t.Errorf("without a kubeconfig: %v\n%s", err, out)
	}
}
