package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/controllings/controllings/runner/internal/hint"
)

// What the testbed marks its things with, as a selector, and where its types are:
// see testbed/internal/ours, which the program guest goes by. Here they are only
// told to people.
const (
	ownerLabel  = "app.kubernetes.io/managed-by=controllings-testbed"
	groupSuffix = ".example.com"
)

// guest is bin/guest: the program that speaks to a cluster of somebody else's. It
// is built from testbed/, with what a check is built from anyway.
type guest struct {
	root   string
	status io.Writer
}

func newGuest(o Options) guest { return guest{root: o.Root, status: o.Status} }

func (g guest) binary() string { return filepath.Join(g.root, "bin", "guest") }

// build makes bin/guest; the go command does nothing where nothing has changed.
func (g guest) build(ctx context.Context) error {
	if _, err := exec.LookPath("go"); err != nil {
		return hint.New("install Go from https://go.dev/dl/ and put its bin folder on PATH", "build bin/guest: the go command is not on PATH")
	}
	if err := mkdir(filepath.Dir(g.binary())); err != nil {
		return err
	}
	held, err := acquire(ctx, filepath.Join(g.root, "bin", ".guest.lock"), "bin/guest", g.status)
	if err != nil {
		return err
	}
	defer held.Close()
	if _, err := os.Stat(g.binary()); err != nil {
		fmt.Fprintln(g.status, "building bin/guest, which speaks to your cluster: once, about a minute")
	}
	err = goCommand(ctx, filepath.Join(g.root, "testbed"), []string{"build", "-mod=readonly", "-buildvcs=false", "-o", g.binary(), "./cmd/guest"}, held, io.Discard, func(string) {})
	if err != nil {
		return explainBuild(ctx, "bin/guest", "if you changed testbed/, look there first: cd testbed && GOWORK=off go build ./cmd/guest", err)
	}
	return nil
}

// checked is the answer of guest check; see there.
type checked struct {
	Kubernetes, Old, Role string
	Missing, Foreign      []string
}

func (g guest) check(ctx context.Context, kubeconfig string, types []string) (*checked, error) {
	var answer checked
	return &answer, g.run(ctx, &answer, append([]string{"check", "--kubeconfig", kubeconfig}, types...)...)
}

// cleaned is the answer of guest clean; see there.
type cleaned struct {
	Removed, Shared, Held []string
}

func (g guest) clean(ctx context.Context, kubeconfig, home string) (*cleaned, error) {
	var answer cleaned
	return &answer, g.run(ctx, &answer, "clean", "--kubeconfig", kubeconfig, "--home", home)
}

func (g guest) run(ctx context.Context, answer any, args ...string) error {
	cmd := exec.CommandContext(ctx, g.binary(), args...)
	var out bytes.Buffer
	verdict := &verdictWriter{next: g.status}
	cmd.Stdout, cmd.Stderr = &out, verdict
	// A terminal's Ctrl-C is for us; we pass it on. The group is also that of a
	// program that fetches credentials.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	verdict.flush()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case verdict.err != "":
		return hint.New(verdict.hint, "%s", verdict.err)
	case err != nil:
		return fmt.Errorf("run bin/guest: %w", err)
	}
	if err := json.Unmarshal(out.Bytes(), answer); err != nil {
		return fmt.Errorf("run bin/guest: %w", errors.Join(err, errors.New(strings.TrimSpace(out.String()))))
	}
	return nil
}

// courseTypes names the custom types of the chapters. A file that can't be read
// is the learner's to mend, in its own chapter.
func courseTypes(root string) []string {
	var names []string
	for _, tree := range []string{"chapters", "solutions"} {
		files, _ := filepath.Glob(filepath.Join(globQuote(root), tree, "*", "config", "crd", "*.yaml"))
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				continue
			}
			var crd struct{ Metadata struct{ Name string } }
			if yaml.Unmarshal(data, &crd) == nil && strings.HasSuffix(crd.Metadata.Name, groupSuffix) {
				names = append(names, crd.Metadata.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
