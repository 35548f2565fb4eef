// Package workflows checks the workflows of GitHub Actions with actionlint.
package workflows

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/rhysd/actionlint"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// Dir is where workflows lie.
const Dir = ".github/workflows"

// Check reads every workflow. It starts no other program: what actionlint would
// leave to shellcheck is too short here to need it.
func Check(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	files, err := r.Files(ctx)
	if err != nil {
		return nil, err
	}
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{WorkingDir: r.Root})
	if err != nil {
		return nil, fmt.Errorf("start actionlint: %w", err)
	}
	var found []repo.Finding
	for _, f := range files {
		if ext := path.Ext(f); path.Dir(f) != Dir || ext != ".yml" && ext != ".yaml" {
			continue
		}
		text, err := os.ReadFile(r.Path(f))
		if err != nil {
			return nil, err
		}
		errs, err := linter.Lint(filepath.FromSlash(f), text, nil)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", f, err)
		}
		for _, e := range errs {
			found = append(found, repo.Finding{Path: f, Line: e.Line, Text: e.Message})
		}
	}
	return found, nil
}
