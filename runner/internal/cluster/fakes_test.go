package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// course is a checkout with a control plane's source that is only looked at,
// never compiled: a fake go command is first on PATH.
type course struct {
	t    *testing.T
	root string
	bin  string // folder on PATH
	said *buffer
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newCourse makes one, at a path that breaks careless quoting.
func newCourse(t *testing.T) *course {
	t.Helper()
	c := &course{t: t, root: filepath.Join(t.TempDir(), "a course 控制器"), bin: t.TempDir(), said: &buffer{}}
	c.write("controlplane/go.mod", "module x\n\nrequire (\n\tk8s.io/kubernetes v1.37.2\n)\n")
	c.write("controlplane/go.sum", "")
	c.write("controlplane/main.go", "package main\n")
	t.Setenv("PATH", c.bin+":/usr/bin:/bin")
	t.Setenv("CALLS", filepath.Join(c.bin, "calls"))
	return c
}

func (c *course) write(name, data string) {
	c.t.Helper()
	path := filepath.Join(c.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// script puts a shell script on PATH.
func (c *course) script(name, body string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.bin, name), []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		c.t.Fatal(err)
	}
}

// goodGo is a go command that lists three packages, and "builds" the script in
// $BUILT. Each call is recorded.
const goodGo = `echo "$GOWORK $CGO_ENABLED $*" >>"$CALLS"
case $1 in
list) echo "go: downloading k8s.io/api v0.37.2" >&2; echo a/b; echo; echo c/d; echo main ;;
build)
	echo a/b >&2; echo c/d >&2; echo main >&2
	while [ "$1" != -o ]; do shift; done
	cp "$BUILT" "$2"; chmod +x "$2" ;;
esac
`

// calls returns what the fake programs recorded, a line each.
func (c *course) calls() []string {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.bin, "calls"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// built sets what the fake go command builds.
func (c *course) built(body string) {
	c.t.Helper()
	c.script("built", body)
	c.t.Setenv("BUILT", filepath.Join(c.bin, "built"))
}

func (c *course) open() *embedded {
	c.t.Helper()
	p, err := Open(Options{Root: c.root, Status: c.said})
	if err != nil {
		c.t.Fatal(err)
	}
	return p.(*embedded)
}
