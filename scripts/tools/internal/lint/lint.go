// Package lint runs golangci-lint, at the version in go.mod, with the one
// configuration, over all modules.
package lint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// Check lints all modules. The linter prints to standard output itself.
func Check(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	var found []repo.Finding
	err := each(ctx, r, "run", func(dir string) {
		found = append(found, repo.Finding{Path: dir, Text: "golangci-lint objects, see above"})
	})
	return found, err
}

// Format writes what the configured formatters say.
func Format(ctx context.Context, r *repo.Repo) error {
	var errs []error
	err := each(ctx, r, "fmt", func(dir string) {
		errs = append(errs, fmt.Errorf("%s: golangci-lint can't format it, see above", dir))
	})
	return errors.Join(append(errs, err)...)
}

// hasCode reports whether the module at dir has any package: a go.mod may be there
// for the tool that it names alone.
func hasCode(ctx context.Context, dir string) (bool, error) {
	out, err := repo.Go(ctx, dir, "list", "./...")
	return len(out) > 0, err
}

// each runs the linter over the workspace as one (it shares the libraries' types),
// then over each module outside, and reports where it failed.
func each(ctx context.Context, r *repo.Repo, verb string, failed func(dir string)) error {
	// Built by Go from modules at first, then kept in Go's cache.
	out, err := repo.Go(ctx, r.Path("scripts/tools/linter"), "tool", "-n", "golangci-lint")
	if err != nil {
		return fmt.Errorf("build golangci-lint: %w", err)
	}
	tool := strings.TrimSpace(string(out))
	members, err := r.Workspace()
	if err != nil {
		return err
	}
	outside, err := r.OutsideModules()
	if err != nil {
		return err
	}

	run := func(dir string, env []string, args ...string) error {
		cmd := exec.CommandContext(ctx, tool, append([]string{verb, "--config", r.Path(".golangci.yml")}, args...)...)
		cmd.Dir = r.Path(dir)
		cmd.Env = append(os.Environ(), env...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		// Killed, it would leave the go command that it started behind.
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 10 * time.Second
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			failed(dir)
			return nil
		}
		return err
	}
	var all []string
	if verb == "run" {
		all = append(all, "--allow-serial-runners") // another terminal's comes first
	}
	for _, m := range members {
		all = append(all, "./"+m+"/...")
	}
	if err := run(".", []string{"GOFLAGS=-buildvcs=false", "GOWORK=" + r.Path("go.work")}, all...); err != nil {
		return err
	}
	for _, m := range outside {
		code, err := hasCode(ctx, r.Path(m))
		if err != nil {
			return err
		}
		if !code {
			continue
		}
		env, args := repo.GoEnv(), []string(nil)
		switch m {
		case "controlplane":
			// As bin/controlplane is built, so that the linter finds Kubernetes
			// compiled instead of compiling it once more; and without what
			// analyses all of it (half an hour, 4 GB).
			env = append(env, "CGO_ENABLED=0")
			if verb == "run" {
				args = append(args, "--disable", "govet,staticcheck,unused")
			}
		case "scripts/node-image":
			env = append(env, "CGO_ENABLED=0") // as the image's parts are built
		}
		if err := run(m, env, append(args, "./...")...); err != nil {
			return err
		}
	}
	return nil
}
