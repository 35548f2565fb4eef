package repo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
	"github.com/controllings/controllings/scripts/tools/internal/tree"
)

func git(t *testing.T, r *repo.Repo, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir = r.Root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestOpenWantsTheCourse(t *testing.T) {
	_, err := repo.Open(t.TempDir())
	require.ErrorContains(t, err, "not a checkout of the course")
}

func TestChapters(t *testing.T) {
	r := tree.New(t, "-- chapters/02-b/x --\n-- chapters/01-a/x --\n-- chapters/.DS_Store --\n-- chapters/notes/x --\n-- solutions/03-c/x --\n-- solutions/01-a/x --\n")
	names, err := r.Chapters()
	require.NoError(t, err)
	require.Equal(t, []string{"01-a", "02-b", "03-c"}, names)
}

func TestFiles(t *testing.T) {
	r := tree.New(t, "-- .gitignore --\n/bin/\n-- bin/lab --\n-- a b/ü --\n-- gone --\n")
	git(t, r, "init", "-q")
	git(t, r, "add", "gone")
	require.NoError(t, os.Remove(r.Path("gone")))
	files, err := r.Files(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{".gitignore", "a b/ü", "scripts/versions"}, files)
}

func TestDriftAndWrite(t *testing.T) {
	r := tree.New(t, "-- same --\nx\n-- other --\nx\n-- extra --\nx\n")
	files := []repo.File{
		{Path: "same", Data: []byte("x\n")},
		{Path: "other", Data: []byte("y\n")},
		{Path: "extra"},
		{Path: "new/file", Data: []byte("z\n")},
		{Path: "absent"},
	}
	found, err := r.Drift(files)
	require.NoError(t, err)
	lines := tree.Lines(found)
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], "other: differs from what is generated\n")
	require.Contains(t, lines[0], "-x\n+y\n")
	require.Equal(t, []string{"extra: should not be there", "new/file: is missing"}, lines[1:])

	var out strings.Builder
	require.NoError(t, r.Write(&out, files))
	require.Equal(t, "wrote other\nremoved extra\nwrote new/file\n", out.String())
	found, err = r.Drift(files)
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestKeep(t *testing.T) {
	home := t.TempDir()
	t.Setenv("LAB_HOME", home)
	r := tree.New(t, "-- committed --\nx\n-- edited --\nx\n")
	git(t, r, "init", "-q")
	git(t, r, "add", ".")
	git(t, r, "commit", "-qm", "x")
	tree.Write(t, r.Root, "-- edited --\nan hour's work\n")
	var out strings.Builder
	require.NoError(t, r.Keep(t.Context(), &out, []repo.File{
		{Path: "committed", Data: []byte("y")}, {Path: "edited", Data: []byte("y")}, {Path: "new", Data: []byte("y")},
	}))
	kept, err := filepath.Glob(filepath.Join(home, "kept", "update-*", "*"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	data, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	require.Equal(t, "an hour's work\n", string(data))
	require.Contains(t, out.String(), "kept    edited as "+kept[0])
}
