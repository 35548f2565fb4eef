// Package tree makes small checkouts for tests.
package tree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// New returns a checkout that holds the files of a txtar text, and a list of
// versions if the text has none.
func New(t *testing.T, text string) *repo.Repo {
	t.Helper()
	root := t.TempDir()
	Write(t, root, "-- scripts/versions --\ngo 1.26.0\n")
	Write(t, root, text)
	r, err := repo.Open(root)
	require.NoError(t, err)
	return r
}

// Write adds the files of a txtar text.
func Write(t *testing.T, root, text string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(text)).Files {
		p := filepath.Join(root, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, f.Data, 0o644))
	}
}

// Lines returns the findings as they are printed.
func Lines(found []repo.Finding) []string {
	var lines []string
	for _, f := range found {
		lines = append(lines, f.String())
	}
	return lines
}
