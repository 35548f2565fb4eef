package grade

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/judge"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// newOptions is a course of three chapters, the second of which the submission
// lacks, on a cluster that does not come up.
func newOptions(t *testing.T) (o Options, ups *int) {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	write("go.work", "")
	for _, id := range []string{"01-x", "02-y", "03-z"} {
		write("chapters/"+id+"/chapter.yaml", "title: X\nminutes: 1\nfiles: [x.go]\nchecks: [{test: TestX, step: \"1.1\", title: x, points: 2}]\n")
		write("chapters/"+id+"/x.go", "package x\n")
		if id != "02-y" {
			write("submission/chapters/"+id+"/x.go", "package x\n")
		}
	}
	c, err := course.Open(root, "", "")
	require.NoError(t, err)
	chapters, err := c.Chapters()
	require.NoError(t, err)
	ups = new(int)
	return Options{
		Course: c, Chapters: chapters, Submission: filepath.Join(root, "submission"),
		Cluster: judge.Cluster{
			Home:  c.Home,
			Probe: func(context.Context) error { return errors.New("connection refused") },
			Up: func(context.Context) (verdict.Cluster, error) {
				*ups++
				return verdict.Cluster{}, hint.New("look at its log", "exit code 1")
			},
		},
	}, ups
}

func TestNothingCanBeJudged(t *testing.T) {
	o, ups := newOptions(t)
	var grown []verdict.Grade
	ended := 0
	o.Changed = func(g *verdict.Grade) { grown = append(grown, *g) }
	o.End = func(r *verdict.Result) { ended++; assert.Equal(t, verdict.Error, r.Status) }
	o.Begin = func(*verdict.Result) { t.Error("nothing can have begun") }
	g := Run(context.Background(), o)
	assert.Equal(t, verdict.Error, g.Status)
	assert.Equal(t, 2, g.Exit())
	assert.Equal(t, 6, g.MaxScore)
	assert.Nil(t, g.Error)
	require.Len(t, g.Chapters, 3)
	assert.Equal(t, "start the cluster: exit code 1\nhint: look at its log", *g.Chapters[0].Error)
	assert.Contains(t, *g.Chapters[1].Error, "the submission has no folder chapters/02-y\nhint: ")
	assert.Equal(t, *g.Chapters[0].Error, *g.Chapters[2].Error)
	assert.Equal(t, 1, *ups, "a cluster that does not come up is not started again for each chapter")
	assert.Equal(t, 3, ended)
	require.NotEmpty(t, grown)
	for i, g := range grown {
		assert.Equal(t, verdict.Error, g.Status)
		assert.Equal(t, i < len(grown)-1, g.Error != nil, "until the end it says that it is not finished")
	}
}

func TestInterrupted(t *testing.T) {
	o, ups := newOptions(t)
	ctx, cancel := context.WithCancel(context.Background())
	up := o.Cluster.Up
	o.Cluster.Up = func(ctx context.Context) (verdict.Cluster, error) {
		cancel()
		return up(ctx)
	}
	o.End = func(*verdict.Result) { t.Error("half a chapter is no verdict") }
	g := Run(ctx, o)
	assert.Equal(t, 1, *ups)
	assert.Equal(t, "interrupted", *g.Error)
	assert.Equal(t, 2, g.Exit())
	for _, r := range g.Chapters {
		assert.Equal(t, "not finished", *r.Error)
		assert.Equal(t, verdict.Error, r.Status)
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"status":"passed"}`), 0o600))
	f, err := NewFile(path)
	require.NoError(t, err)
	assert.NoFileExists(t, path, "an earlier result does not survive")
	require.NoError(t, f.Write([]byte("one")))

	// Whoever reads meets a whole one, the old or the new.
	texts := map[string]bool{"one": true}
	for _, text := range []string{"two, which is longer", "3", string(make([]byte, 1<<20))} {
		texts[text] = true
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			for text := range texts {
				assert.NoError(t, f.Write([]byte(text)))
			}
		}
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, texts[string(data)], "%d bytes", len(data))
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1, "no half-written file stays")
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode())
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	require.NoError(t, os.WriteFile(kept, []byte("kept"), 0o600))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(kept, link))
	for _, path := range []string{link, dir, os.DevNull, filepath.Join(dir, "no", "such", "folder"), filepath.Join(kept, "below")} {
		_, err := NewFile(path)
		assert.Error(t, err, path)
	}
	data, err := os.ReadFile(kept)
	require.NoError(t, err)
	assert.Equal(t, "kept", string(data))

	f, err := NewFile(filepath.Join(dir, "result"))
	require.NoError(t, err)
	f.path = filepath.Join(dir, "gone", "result")
	assert.Error(t, f.Write(nil), "a result that can't be written is not kept quiet")
}
