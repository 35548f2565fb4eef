package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/controllings/controllings/runner/internal/hint"
)

func TestItIsBuiltOnceAndAgainOnlyWhenItsSourceChanges(t *testing.T) {
	c := newCourse(t)
	c.script("go", goodGo)
	c.built("exit 0\n")
	b := c.open().build
	ensure := func(want int) {
		t.Helper()
		if err := b.ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(c.calls()); got != want {
			t.Fatalf("the go command ran %d times, want %d: %q", got, want, c.calls())
		}
	}
	ensure(2) // list, build
	ensure(2)
	c.write("controlplane/main_test.go", "package main\n")
	c.write("controlplane/README.md", "read me\n")
	c.write("controlplane/testdata/x.go", "package x\n")
	ensure(2) // none of these is in the binary
	c.write("controlplane/main.go", "package main // changed\n")
	ensure(4)
	c.write("controlplane/go.sum", "changed\n")
	ensure(6)
	if err := os.Remove(b.binary()); err != nil {
		t.Fatal(err)
	}
	ensure(8)
	if err := os.Truncate(b.binary(), 0); err != nil {
		t.Fatal(err)
	}
	ensure(10)
	entries, err := os.ReadDir(filepath.Join(c.root, "bin"))
	if err != nil || len(entries) != 3 {
		t.Errorf("bin holds %v, %v; want binary, stamp and lock", entries, err)
	}
	build := c.calls()[1]
	for _, want := range []string{
		"off 0 build -v", "-buildvcs=false", "-X k8s.io/component-base/version.gitVersion=v1.37.2",
		"-X k8s.io/component-base/version.gitMajor=1", "-X k8s.io/component-base/version.gitMinor=37",
	} {
		if !strings.Contains(build, want) {
			t.Errorf("build command %q has no %q", build, want)
		}
	}
}

func TestTwoBuildsAtOnceAreOne(t *testing.T) {
	c := newCourse(t)
	c.script("go", "sleep 0.3\n"+goodGo)
	c.built("exit 0\n")
	var wg sync.WaitGroup
	for range 2 {
		b := c.open().build
		wg.Go(func() {
			if err := b.ensure(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := c.calls(); len(got) != 2 {
		t.Errorf("the go command ran %d times, want 2: %q", len(got), got)
	}
	if !strings.Contains(c.said.String(), "waiting for it") {
		t.Errorf("the second did not say that it waits: %q", c.said)
	}
}

func TestCtrlCEndsTheCompilersAndKeepsWhatIsThere(t *testing.T) {
	c := newCourse(t)
	c.built("exit 0\n")
	// The go command starts a compiler, and both wait. The compiler says its pid.
	c.script("go", `case $1 in
list) echo a ;;
build) sh -c 'echo $$ >"$CALLS"; exec sleep 60' ;;
esac
`)
	b := c.open().build
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		until(ctx, func() bool { return len(c.calls()) > 0 && c.calls()[0] != "" })
		cancel()
	}()
	err := b.ensure(ctx)
	if !errors.Is(err, context.Canceled) || !strings.Contains(hint.Of(err), "goes on where it stopped") {
		t.Errorf("err = %v, hint %q", err, hint.Of(err))
	}
	var compiler int
	if _, err := fmt.Sscan(c.calls()[0], &compiler); err != nil {
		t.Fatal(err)
	}
	within, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if !until(within, func() bool { return syscall.Kill(compiler, 0) != nil }) {
		t.Fatal("the compiler is left")
	}
	if _, err := os.Stat(b.binary()); err == nil {
		t.Error("there is a binary")
	}
	c.script("go", goodGo)
	if err := os.Remove(filepath.Join(c.bin, "calls")); err != nil {
		t.Fatal(err)
	}
	if err := b.ensure(t.Context()); err != nil {
		t.Errorf("the next build: %v", err)
	}
}

func TestAFailedBuildSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		script     string
		err, hint  string
		keepBinary bool
	}{
		"disk full": {
			script: "echo 'go: writing output: write $WORK/b001/_pkg_.a: no space left on device' >&2; exit 1",
			err:    "the disk is full", hint: "GOCACHE",
		},
		"no network": {
			script: `echo 'go: k8s.io/api@v0.37.2: Get "https://modules.example/": dial tcp: lookup modules.example: no such host' >&2; exit 1`,
			err:    "modules can't be fetched", hint: "GOPROXY",
		},
		"a module that was tampered with": {
			script: "printf 'verifying k8s.io/api: checksum mismatch\\nSECURITY ERROR\\n' >&2; exit 1",
			err:    "not what go.sum says", hint: "go clean -modcache",
		},
		"old Go": {
			script: "echo 'go: go.mod requires go >= 1.26.0 (running go 1.22.1; GOTOOLCHAIN=local)' >&2; exit 1",
			err:    "too old", hint: "go.dev/dl",
		},
		"little memory": {
			script: "echo 'k8s.io/api/core/v1: /usr/local/go/pkg/tool/compile: signal: killed' >&2; exit 1",
			err:    "not enough memory", hint: "4 GB",
		},
		"broken source": {
			script: "[ $1 = list ] && exit 0; printf '# x\\n./main.go:1:1: syntax error\\n' >&2; exit 1",
			err:    "./main.go:1:1: syntax error", hint: "controlplane/",
		},
	} {
		t.Run(name, func(t *testing.T) {
			course := newCourse(t)
			course.script("go", c.script+"\n")
			course.write("bin/controlplane", "an older one")
			err := course.open().build.ensure(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(hint.Of(err), c.hint) {
				t.Errorf("err = %v\nhint = %q\nwant %q and %q", err, hint.Of(err), c.err, c.hint)
			}
			if data, _ := os.ReadFile(filepath.Join(course.root, "bin", "controlplane")); string(data) != "an older one" {
				t.Error("the older binary is not what it was")
			}
		})
	}
}

func TestWithoutGo(t *testing.T) {
	c := newCourse(t)
	t.Setenv("PATH", c.bin)
	err := c.open().build.ensure(t.Context())
	if err == nil || !strings.Contains(hint.Of(err), "go.dev/dl") {
		t.Errorf("err = %v, hint %q", err, hint.Of(err))
	}
}

func TestWithoutSource(t *testing.T) {
	p, err := Open(Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Up(t.Context()); err == nil || hint.Of(err) == "" {
		t.Errorf("err = %v, hint %q", err, hint.Of(err))
	}
}

func TestBuildEnv(t *testing.T) {
	got := strings.Join(buildEnv([]string{"HOME=/h", "GOOS=plan9", "GOFLAGS=-mod=vendor", "GOPROXY=https://p"}), " ")
	for _, want := range []string{"HOME=/h", "GOPROXY=https://p", "GOWORK=off", "CGO_ENABLED=0"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	for _, not := range []string{"plan9", "vendor"} {
		if strings.Contains(got, not) {
			t.Errorf("%q in %q", not, got)
		}
	}
}
