package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// binary is what is tested.
var binary string

// shared is a cluster for the tests that only use one.
var shared cluster

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	tmp, err := os.MkdirTemp("", "controlplane e2e ")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer os.RemoveAll(tmp)
	if binary, err = build(tmp); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	shared = cluster{dir: filepath.Join(tmp, "shared")}
	code := m.Run()
	if out, err := shared.command("down").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "take the shared cluster down: %v\n%s", err, out)
		return 2
	}
	return code
}

// build returns the path of the binary.
func build(dir string) (string, error) {
	if given := os.Getenv("CONTROLPLANE_BIN"); given != "" {
		return filepath.Abs(given)
	}
	gomod, err := os.ReadFile("../go.mod")
	if err != nil {
		return "", err
	}
	version := regexp.MustCompile(`k8s.io/kubernetes (v\S+)`).FindSubmatch(gomod)
	if version == nil {
		return "", fmt.Errorf("no version of k8s.io/kubernetes in go.mod")
	}
	out := filepath.Join(dir, "controlplane")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", out,
		"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion="+string(version[1])+
			" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor="+strings.Split(string(version[1]), ".")[1], "..")
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return out, cmd.Run()
}

// cluster is a control plane in a folder.
type cluster struct{ dir string }

// fresh returns a cluster that is down, in a folder of a kind that breaks
// programs that are careless with paths. It is taken down after the test.
func fresh(t *testing.T) cluster {
	t.Helper()
	c := cluster{dir: filepath.Join(t.TempDir(), "a course, 控制器=x", "cluster")}
	t.Cleanup(func() { _ = c.command("down").Run() })
	return c
}

func (c cluster) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, append(args, "--dir", c.dir)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// up starts the cluster and returns what it said.
func (c cluster) up(t *testing.T) string {
	t.Helper()
	out, err := c.command("up").CombinedOutput()
	if err != nil {
		t.Fatalf("up: %v\n%s", err, out)
	}
	return string(out)
}

func (c cluster) down(t *testing.T) {
	t.Helper()
	if out, err := c.command("down").CombinedOutput(); err != nil {
		t.Fatalf("down: %v\n%s", err, out)
	}
}

type component struct {
	Name, State, Exit string
	PID, Restarts     int
	Log               []string
}

type status struct {
	State, Kubernetes, Server, Reason string
	Components                        []component
	code                              int
}

func (c cluster) status(t *testing.T) status {
	t.Helper()
	var out bytes.Buffer
	cmd := c.command("status", "--json")
	cmd.Stdout = &out
	_ = cmd.Run()
	var s status
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatalf("status: %v: %s", err, out.Bytes())
	}
	s.code = cmd.ProcessState.ExitCode()
	return s
}

// processes of the cluster by name, the supervisor too.
func (c cluster) processes(t *testing.T) map[string]int {
	t.Helper()
	pids := map[string]int{"supervisor": c.supervisor(t)}
	for _, k := range c.status(t).Components {
		pids[k.Name] = k.PID
	}
	return pids
}

func (c cluster) supervisor(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ Supervisor int }
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s.Supervisor
}

// alive reports whether a process is there, and not only waiting to be reaped.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// factor stretches the time limits on a busy machine.
func factor(d time.Duration) time.Duration {
	if f, err := time.ParseDuration(os.Getenv("LAB_TIME_FACTOR") + "s"); err == nil && f > 0 {
		return time.Duration(float64(d) * f.Seconds())
	}
	return d
}

// eventually polls until ok returns "", and fails with what it returned last.
func eventually(t *testing.T, within time.Duration, ok func(context.Context) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), factor(within))
	defer cancel()
	for {
		seen := ok(ctx)
		if seen == "" {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not within %s: %s", factor(within), seen)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
