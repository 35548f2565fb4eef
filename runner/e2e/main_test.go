package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	root string // the course's checkout
	lab  string // what is tested, built from this source
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	tmp, err := os.MkdirTemp("", "lab e2e ")
	if err == nil {
		defer os.RemoveAll(tmp)
		root, err = filepath.Abs("../..")
	}
	if err == nil {
		lab = filepath.Join(tmp, "lab")
		cmd := exec.Command("go", "build", "-C", filepath.Join(root, "runner"), "-buildvcs=false", "-o", lab, "./cmd/lab")
		cmd.Env = append(os.Environ(), "GOWORK=off")
		cmd.Stderr = os.Stderr
		err = cmd.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return m.Run()
}

// person sits at a terminal.
type person struct {
	t   *testing.T
	env []string
}

// result of a command.
type result struct {
	code           int
	stdout, stderr string
}

// newPerson has a home folder and a LAB_HOME of their own, and no variable that
// leads to a cluster.
func newPerson(t *testing.T) *person {
	t.Helper()
	p := &person{t: t}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "LAB_") && name != "LAB_TIME_FACTOR" || name == "KUBECONFIG" || name == "CLUSTER" || name == "HOME" || strings.HasPrefix(name, "XDG_") {
			continue
		}
		p.env = append(p.env, kv)
	}
	// Go's caches don't move with the home folder.
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB", "GOENV"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		p.set(name, strings.TrimSpace(string(out)))
	}
	p.set("HOME", filepath.Join(t.TempDir(), "a home, 家"))
	p.set("LAB_HOME", filepath.Join(t.TempDir(), "a lab, 控制器=x"))
	p.set("NO_COLOR", "1")
	if err := os.MkdirAll(p.get("HOME"), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *person) set(name, value string) {
	p.unset(name)
	p.env = append(p.env, name+"="+value)
}

func (p *person) unset(name string) {
	var kept []string
	for _, kv := range p.env {
		if !strings.HasPrefix(kv, name+"=") {
			kept = append(kept, kv)
		}
	}
	p.env = kept
}

func (p *person) get(name string) string {
	for _, kv := range p.env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// run runs a program in the course's folder.
func (p *person) run(program string, args ...string) result {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), program, args...)
	cmd.Dir, cmd.Env = root, p.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("%s %q: %v", program, args, err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// lab runs lab and wants this exit code.
func (p *person) lab(code int, args ...string) result {
	p.t.Helper()
	r := p.run(lab, args...)
	if r.code != code {
		p.t.Fatalf("lab %q: exit code %d, want %d\n%s%s", args, r.code, code, r.stdout, r.stderr)
	}
	return r
}

// want looks for words in what was printed.
func want(t *testing.T, printed string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(printed, w) {
			t.Errorf("no %q in\n%s", w, printed)
		}
	}
}
