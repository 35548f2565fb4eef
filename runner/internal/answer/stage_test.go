package answer

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/course"
)

// newCourse is a chapter with a package below it, in a folder whose name has a
// space, a quote and Chinese characters.
func newCourse(t *testing.T) (*course.Course, *course.Chapter) {
	t.Helper()
	root := filepath.Join(t.TempDir(), `课 程 "1"`)
	for name, text := range map[string]string{
		"go.work":                     "",
		"chapters/01-x/chapter.yaml":  "title: X\nminutes: 1\nfiles: [x.go, sub/y.go]\nchecks: [{test: TestX, step: \"1.1\", title: x}]\n",
		"chapters/01-x/go.mod":        "module example.com/c/chapters/01-x\n\ngo 1.26.0\n\nrequire example.com/c/testbed v0.0.0\n\nreplace example.com/c/testbed => ../../testbed\n",
		"chapters/01-x/go.sum":        "",
		"chapters/01-x/doc.go":        "// Package x is given.\npackage x\n",
		"chapters/01-x/deps.go":       "//go:build deps\n\npackage x\n",
		"chapters/01-x/x.go":          "package x\n\nimport _ \"example.com/c/chapters/01-x/sub\"\n",
		"chapters/01-x/sub/y.go":      "package sub\n",
		"chapters/01-x/x_test.go":     "package x_test\n",
		"chapters/01-x/config/r.yaml": "kind: Role\n",
		"chapters/01-x/README.md":     "# X\n",
		"solutions/01-x/doc.go":       "// Package x is given.\npackage x\n",
		"solutions/01-x/x.go":         "package x\n\nimport _ \"example.com/c/solutions/01-x/sub\"\n\n// done\n",
		"solutions/01-x/sub/y.go":     "package sub\n",
		"solutions/01-x/stub.patch":   "--- a/x.go\n+++ b/x.go\n@@ -1,5 +1,3 @@\n package x\n \n import _ \"example.com/c/solutions/01-x/sub\"\n-\n-// done\n",
	} {
		require.NoError(t, writeFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text)))
	}
	c, err := course.Open(root, "", "")
	require.NoError(t, err)
	ch, err := c.Chapter("1")
	require.NoError(t, err)
	return c, ch
}

// laid lists what a folder holds.
func laid(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		data, err := os.ReadFile(p)
		got[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return got
}

func TestStage(t *testing.T) {
	ctx := context.Background()
	c, ch := newCourse(t)
	more := filepath.Join(ch.Dir, "more.go")
	require.NoError(t, writeFile(more, []byte("package x\n")))
	require.NoError(t, writeFile(filepath.Join(ch.Dir, "vendor", "v.go"), []byte("package v\n")))

	for _, n := range []Name{{Kind: Mine}, {Kind: Solution}, {Kind: Stub}} {
		s, err := Stage(ctx, c, ch, n)
		require.NoError(t, err)
		got := laid(t, s.Dir)
		s.Close()
		assert.Equal(t, "example.com/c/chapters/01-x", s.Module)
		assert.Contains(t, got["x.go"], `"example.com/c/chapters/01-x/sub"`, "its own packages are the staged module's")
		assert.Contains(t, got["go.mod"], "课 程")
		assert.Contains(t, got, "doc.go", "a file that both have is given")
		assert.Contains(t, got, "config/r.yaml")
		assert.Contains(t, got, "x_test.go")
		for _, not := range []string{"deps.go", "README.md", "chapter.yaml", "stub.patch", "vendor/v.go"} {
			assert.NotContains(t, got, not)
		}
		_, added := got["more.go"]
		assert.Equal(t, n.Kind == Mine, added, "what the learner added is theirs alone")
		origin, ok := s.Origin("x.go")
		assert.True(t, ok)
		assert.Equal(t, map[Kind]string{Mine: "chapters/01-x/x.go", Solution: "solutions/01-x/x.go", Stub: "solutions/01-x/x.go (with stub.patch)"}[n.Kind], origin)
	}
}

func TestStageAgain(t *testing.T) {
	ctx := context.Background()
	c, ch := newCourse(t)
	n := Name{Kind: Mine}
	s, err := Stage(ctx, c, ch, n)
	require.NoError(t, err)
	want := laid(t, s.Dir)
	before, err := os.Stat(filepath.Join(s.Dir, "x.go"))
	require.NoError(t, err)

	// A second terminal gets another folder with the same in it.
	other, err := Stage(ctx, c, ch, n)
	require.NoError(t, err)
	assert.NotEqual(t, s.Dir, other.Dir)
	assert.Equal(t, want, laid(t, other.Dir))
	other.Close()

	// A check's process left junk, and swapped a check for a link.
	require.NoError(t, writeFile(filepath.Join(s.Dir, "junk", "j.go"), []byte("package j\n")))
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("package x_test\n"), 0o600))
	require.NoError(t, os.Remove(filepath.Join(s.Dir, "x_test.go")))
	require.NoError(t, os.Symlink(outside, filepath.Join(s.Dir, "x_test.go")))
	require.NoError(t, os.Remove(filepath.Join(s.Dir, "config", "r.yaml")))
	require.NoError(t, os.Mkdir(filepath.Join(s.Dir, "config", "r.yaml"), 0o700))
	s.Close()

	s, err = Stage(ctx, c, ch, n)
	require.NoError(t, err)
	defer s.Close()
	assert.Equal(t, want, laid(t, s.Dir))
	link, err := os.Lstat(filepath.Join(s.Dir, "x_test.go"))
	require.NoError(t, err)
	assert.True(t, link.Mode().IsRegular())
	after, err := os.Stat(filepath.Join(s.Dir, "x.go"))
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime(), "what has not changed is not written")
}

func TestReset(t *testing.T) {
	ctx := context.Background()
	c, ch := newCourse(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	kept, err := Reset(ctx, c, ch, now)
	require.NoError(t, err)
	assert.Empty(t, kept, "the stubs are there already")

	work := map[string]string{"x.go": "package x // mine\n", "sub/y.go": "package sub\n", "more.go": "package x\n"}
	for _, again := range []string{"", "-2"} {
		for name, text := range work {
			require.NoError(t, writeFile(filepath.Join(ch.Dir, name), []byte(text)))
		}
		kept, err = Reset(ctx, c, ch, now)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(c.Home, "kept", "01-x-2026-01-02T03-04-05"+again), kept)
		assert.Equal(t, work, laid(t, kept))
	}
	changed, err := Changed(ctx, c, ch)
	require.NoError(t, err)
	assert.Empty(t, changed)
	assert.NoFileExists(t, filepath.Join(ch.Dir, "more.go"))
	assert.FileExists(t, filepath.Join(ch.Dir, "doc.go"), "what is given is not the learner's to lose")

	// Without a patch nothing is touched.
	require.NoError(t, writeFile(filepath.Join(ch.Dir, "x.go"), []byte("package x // again\n")))
	require.NoError(t, os.Remove(filepath.Join(ch.Solution, "stub.patch")))
	_, err = Reset(ctx, c, ch, now)
	require.Error(t, err)
	text, err := os.ReadFile(filepath.Join(ch.Dir, "x.go"))
	require.NoError(t, err)
	assert.Equal(t, "package x // again\n", string(text))
}
