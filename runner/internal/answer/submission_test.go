package answer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/hint"
)

// submit lays a submission of chapter 01-x.
func submit(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, writeFile(filepath.Join(dir, "chapters", "01-x", filepath.FromSlash(name)), []byte(text)))
	}
	return dir
}

func TestSubmission(t *testing.T) {
	ctx := context.Background()
	c, ch := newCourse(t)
	// What the checkout has is neither here nor there.
	require.NoError(t, writeFile(filepath.Join(ch.Dir, "mine.go"), []byte("package x\n")))
	require.NoError(t, writeFile(filepath.Join(ch.Dir, "x.go"), []byte("package x // the checkout's\n")))
	theirs := map[string]string{
		"x.go": "package x // theirs\n", "sub/y.go": "package sub\n", "more.go": "package x\n", "deep/er/z.go": "package er\n",
	}
	all := map[string]string{
		"x_test.go": "package no\n", "X_TEST.go": "package no\n", "y_test.go": "package no\n", "go.mod": "no", "go.sum": "no", "chapter.yaml": "no",
		"README.md": "no", "doc.go": "package no\n", "DOC.go": "package no\n", "deps.go": "package no\n", "Deps.go": "package no\n",
		"vendor/v.go": "package no\n", "config/r.yaml": "no", "config/c.go": "package no\n", "testdata/t.go": "package no\n",
		".hidden/h.go": "package no\n", "_old/o.go": "package no\n", "_z.go": "package no\n", "asm.s": "no", "own/go.mod": "module no\n", "own/o.go": "package no\n",
	}
	for name, text := range theirs {
		all[name] = text
	}
	s, err := Stage(ctx, c, ch, FromSubmission(submit(t, all)))
	require.NoError(t, err)
	defer s.Close()
	got := laid(t, s.Dir)
	for name, text := range theirs {
		assert.Equal(t, text, got[name], name)
		origin, _ := s.Origin(name)
		assert.Equal(t, "chapters/01-x/"+name, origin)
	}
	for name, text := range got {
		assert.NotContains(t, text, "package no", name)
		assert.NotEqual(t, "no", text, name)
	}
	assert.Equal(t, "kind: Role\n", got["config/r.yaml"], "from this checkout")
	assert.Len(t, got, len(theirs)+len([]string{"go.mod", "go.sum", "doc.go", "x_test.go", "config/r.yaml"}))
	assert.Contains(t, filepath.ToSlash(s.Dir), "/stage/01-x/submission")
}

// What files: names comes from the submission or not at all, in config/ too.
func TestSubmissionLacksAFile(t *testing.T) {
	c, ch := newCourse(t)
	ch.Files = append(ch.Files, "config/r.yaml")
	s, err := Stage(context.Background(), c, ch, FromSubmission(submit(t, map[string]string{"x.go": "package x\n"})))
	require.NoError(t, err)
	defer s.Close()
	got := laid(t, s.Dir)
	assert.NotContains(t, got, "sub/y.go")
	assert.NotContains(t, got, "config/r.yaml")
}

func TestSubmissionLinks(t *testing.T) {
	c, ch := newCourse(t)
	outside := filepath.Join(ch.Solution, "x.go")
	load := func(lay func(dir, chapter string)) (Files, error) {
		dir := submit(t, map[string]string{"sub/y.go": "package sub\n", "inside": "package x // inside\n"})
		lay(dir, filepath.Join(dir, "chapters", "01-x"))
		return Load(context.Background(), c, ch, FromSubmission(dir))
	}
	link := func(from, to string) { require.NoError(t, os.Symlink(from, to)) }

	files, err := load(func(_, chapter string) { link("inside", filepath.Join(chapter, "x.go")) })
	require.NoError(t, err, "a link that stays inside is as good as a file")
	assert.Equal(t, "package x // inside\n", string(files["x.go"].Data))

	files, err = load(func(_, chapter string) {
		link(outside, filepath.Join(chapter, "added.go"))
		link(ch.Solution, filepath.Join(chapter, "folder"))
	})
	require.NoError(t, err, "what is added is files, not links")
	assert.Len(t, files, 1)

	for name, lay := range map[string]func(dir, chapter string){
		"a file, absolute": func(_, chapter string) { link(outside, filepath.Join(chapter, "x.go")) },
		"a file, relative": func(_, chapter string) {
			rel, err := filepath.Rel(chapter, outside)
			require.NoError(t, err)
			link(rel, filepath.Join(chapter, "x.go"))
		},
		"by way of another": func(dir, chapter string) {
			link("..", filepath.Join(dir, "up"))
			link("../../up/somewhere", filepath.Join(chapter, "x.go"))
		},
		"the chapter": func(_, chapter string) {
			require.NoError(t, os.RemoveAll(chapter))
			link(ch.Solution, chapter)
		},
		"all chapters": func(dir, _ string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "chapters")))
			link(filepath.Dir(ch.Solution), filepath.Join(dir, "chapters"))
		},
		"a pipe":   func(_, chapter string) { require.NoError(t, syscall.Mkfifo(filepath.Join(chapter, "x.go"), 0o600)) },
		"a folder": func(_, chapter string) { require.NoError(t, os.Mkdir(filepath.Join(chapter, "x.go"), 0o700)) },
		"a loop": func(_, chapter string) {
			link("x.go", filepath.Join(chapter, "x.go"))
		},
	} {
		_, err := load(lay)
		assert.Error(t, err, name)
	}
}

func TestSubmissionBounds(t *testing.T) {
	c, ch := newCourse(t)
	big := string(bytes.Repeat([]byte("/"), maxFile))
	for want, files := range map[string]map[string]string{
		"":                                      {"x.go": big},
		"x.go of the submission is larger than": {"x.go": big + "/"},
		"a.go of the submission is larger than": {"x.go": "package x\n", "a.go": big + "/"},
		"holds more than 4096 KiB of Go files":  {"x.go": big, "a.go": big, "b.go": big, "c.go": big, "d.go": "package x\n"},
		"holds more than 200 added Go files":    many(maxAdded+1, "a%d.go"),
		"holds more than 5000 files":            many(maxEntries, "t/%d.txt"),
		"holds none of the chapter's files":     {"a.go": "package x\n"},
		"has no folder chapters/01-x":           nil,
	} {
		_, err := Load(context.Background(), c, ch, FromSubmission(submit(t, files)))
		if want == "" {
			assert.NoError(t, err)
			continue
		}
		if assert.ErrorContains(t, err, want) {
			assert.NotEmpty(t, hint.Of(err), want)
		}
	}
	_, err := Load(context.Background(), c, ch, FromSubmission(filepath.Join(t.TempDir(), "nowhere")))
	assert.ErrorContains(t, err, "open the submission")
}

func many(n int, name string) map[string]string {
	files := map[string]string{"x.go": "package x\n"}
	for i := range n {
		files[fmt.Sprintf(name, i)] = "package x\n"
	}
	return files
}
