// Package benches holds lessons to what was measured: each table and chart is what
// bin/lab makes of the chapter's bench.json.
package benches

import (
	"context"
	"fmt"
	"strings"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// Check compares tables and charts with bench.json.
func Check(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	out, err := lab(ctx, r, "--check")
	var found []repo.Finding
	for line := range strings.Lines(string(out)) {
		path, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		found = append(found, repo.Finding{Path: path, Text: text})
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, err
}

// Write writes them anew.
func Write(ctx context.Context, r *repo.Repo) error {
	_, err := lab(ctx, r, "--render")
	return err
}

func lab(ctx context.Context, r *repo.Repo, flag string) ([]byte, error) {
	out, err := repo.Output(ctx, r.Root, nil, r.Path("bin/lab"), "bench", flag)
	if err != nil {
		return out, fmt.Errorf("ask bin/lab (make lab builds it): %w", err)
	}
	return out, nil
}
