package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/lock"
)

// kubernetesVersion is set in the binary at link time, as the official builds
// do; kubectl and kubeadm read it. It is the version of k8s.io/kubernetes in
// controlplane/go.mod.
func kubernetesVersion(gomod []byte) string {
	for _, l := range strings.Split(string(gomod), "\n") {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(l), "require "))
		if len(f) >= 2 && f[0] == "k8s.io/kubernetes" && strings.HasPrefix(f[1], "v") {
			return f[1]
		}
	}
	return ""
}

// builder builds bin/controlplane.
type builder struct {
	root   string
	status io.Writer
	every  time.Duration // between lines of progress that nobody rewrites
}

func newBuilder(o Options) builder {
	return builder{root: o.Root, status: o.Status, every: 10 * time.Second}
}

func (b builder) source() string { return filepath.Join(b.root, "controlplane") }
func (b builder) binary() string { return filepath.Join(b.root, "bin", "controlplane") }
func (b builder) stamp() string  { return filepath.Join(b.root, "bin", ".controlplane.stamp") }
func (b builder) lock() string   { return filepath.Join(b.root, "bin", ".controlplane.lock") }
func (b builder) fresh() string  { return filepath.Join(b.root, "bin", ".controlplane.new") }

// ldflags set the version, and leave out the symbol table, which is a third of
// the file and serves debuggers only.
func ldflags(version string) string {
	flags := []string{"-s", "-w"}
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, kv := range []string{"gitVersion=" + version, "gitMajor=" + major, "gitMinor=" + minor, "gitTreeState=clean"} {
			flags = append(flags, "-X", pkg+"."+kv)
		}
	}
	return strings.Join(flags, " ")
}

// ensure builds the binary unless the one that is there was made of the same
// source. Two at once build once.
func (b builder) ensure(ctx context.Context) error {
	want, version, err := b.sum()
	if err != nil {
		return fmt.Errorf("read the control plane's source: %w", err)
	}
	if b.current(want) {
		return nil
	}
	if err := mkdir(filepath.Dir(b.binary())); err != nil {
		return err
	}
	held, err := acquire(ctx, b.lock(), "the control plane", b.status)
	if err != nil {
		return err
	}
	defer held.Close()
	if b.current(want) {
		return nil // the one we waited for has built it
	}
	if _, err := exec.LookPath("go"); err != nil {
		return hint.New("install Go from https://go.dev/dl/ and put its bin folder on PATH", "build the control plane: the go command is not on PATH")
	}
	defer os.Remove(b.fresh())
	if err := b.compile(ctx, version, held); err != nil {
		return err
	}
	// The stamp goes first and comes back last: a crash in between costs a
	// build, never leaves a stamp that lies.
	_ = os.Remove(b.stamp())
	if err := os.Rename(b.fresh(), b.binary()); err != nil {
		return explain(fmt.Errorf("put the control plane in place: %w", err))
	}
	return writeFile(b.stamp(), []byte(want+"\n"))
}

// current reports whether the binary is the one that want describes.
func (b builder) current(want string) bool {
	have, err := os.ReadFile(b.stamp())
	if err != nil || strings.TrimSpace(string(have)) != want {
		return false
	}
	info, err := os.Stat(b.binary())
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// acquire waits for the build lock. It is passed on to the go command, so a
// runner that is killed does not let a second build begin beside the first.
func acquire(ctx context.Context, path, what string, status io.Writer) (*os.File, error) {
	held, err := lock.Wait(ctx, path, func() {
		fmt.Fprintf(status, "another command is building %s: waiting for it\n", what)
	})
	if err != nil {
		return nil, explain(fmt.Errorf("build %s: %w", what, err))
	}
	return held, nil
}

// compile runs the go command, twice: first to list what is to be built, so
// that progress has a total, then to build it.
func (b builder) compile(ctx context.Context, version string, lock *os.File) error {
	p := newProgress(b.status, b.every)
	defer p.stop()

	p.say("building Kubernetes %s from source; looking at what there is already", version)
	stale, err := b.stale(ctx, p, lock)
	if err != nil {
		return b.failed(ctx, err)
	}
	p.begin(stale, expect(stale))
	args := []string{
		"build", "-v", "-mod=readonly", "-buildvcs=false", "-o", b.fresh(),
		"-ldflags=" + ldflags(version), ".",
	}
	if err := b.run(ctx, args, lock, io.Discard, p.packageBuilt); err != nil {
		return b.failed(ctx, err)
	}
	p.end()
	return nil
}

// stale counts the packages that the build cache does not have. It also fetches
// the modules' source, the first time.
func (b builder) stale(ctx context.Context, p *progress, lock *os.File) (int, error) {
	var out strings.Builder
	args := []string{"list", "-mod=readonly", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", "."}
	if err := b.run(ctx, args, lock, &out, p.moduleFetched); err != nil {
		return 0, err
	}
	return len(strings.Fields(out.String())), nil
}

// run runs the go command in controlplane/, handing it whole lines of standard
// error one by one.
func (b builder) run(ctx context.Context, args []string, lock *os.File, stdout io.Writer, line func(string)) error {
	return goCommand(ctx, b.source(), args, lock, stdout, line)
}

func goCommand(ctx context.Context, dir string, args []string, lock *os.File, stdout io.Writer, line func(string)) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = buildEnv(os.Environ())
	errs := &lineWriter{line: line}
	cmd.Stdout, cmd.Stderr = stdout, errs
	cmd.ExtraFiles = []*os.File{lock}
	// The go command starts compilers. A group of their own lets us end all of
	// them together; a terminal's Ctrl-C comes to us alone, and we pass it on.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // compilers that did not listen
	}
	errs.flush()
	if err != nil {
		return &goError{err: err, output: errs.kept()}
	}
	return nil
}

// buildEnv is the environment of the go command: the user's, but for what would
// make another binary of it.
func buildEnv(env []string) []string {
	var out []string
	for _, kv := range env {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "GOOS", "GOARCH", "GOWORK", "CGO_ENABLED", "GOFLAGS":
		default:
			out = append(out, kv)
		}
	}
	// No C compiler needed, and the binary runs on any Linux. The control
	// plane's module is not in the course's workspace: see ARCHITECTURE.md.
	return append(out, "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
}
