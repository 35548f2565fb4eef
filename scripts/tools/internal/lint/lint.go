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

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// Check lints the workspace as one (it shares the libraries' types), then each
// module outside. The linter prints to standard output itself.
func Check(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	// Built by Go from the module proxy at first, then kept in Go's cache.
	out, err := repo.Go(ctx, r.Path("scripts/tools"), "tool", "-n", "golangci-lint")
	if err != nil {
		return nil, fmt.Errorf("build golangci-lint: %w", err)
	}
	tool := strings.TrimSpace(string(out))
	members, err := r.Workspace()
	if err != nil {
		return nil, err
	}
	outside, err := r.OutsideModules()
	if err != nil {
		return nil, err
	}

	var found []repo.Finding
	run := func(dir string, env []string, patterns ...string) error {
		cmd := exec.CommandContext(ctx, tool, append([]string{"run", "--config", r.Path(".golangci.yml")}, patterns...)...)
		cmd.Dir = r.Path(dir)
		cmd.Env = append(os.Environ(), env...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			found = append(found, repo.Finding{Path: dir, Text: "golangci-lint objects, see above"})
			return nil
		}
		return err
	}
	var all []string
	for _, m := range members {
		all = append(all, "./"+m+"/...")
	}
	if err := run(".", []string{"GOFLAGS=-buildvcs=false", "GOWORK=" + r.Path("go.work")}, all...); err != nil {
		return nil, err
	}
	for _, m := range outside {
		if err := run(m, repo.GoEnv(), "./..."); err != nil {
			return nil, err
		}
	}
	return found, nil
}
