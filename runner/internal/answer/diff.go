package answer

import (
	"context"
	"os"
	"path/filepath"

	"github.com/controllings/controllings/runner/internal/course"
)

// Diff is the way from the learner's files to the solution's, as a unified
// diff of the chapter's files:, "" if they are the same.
func Diff(ctx context.Context, c *course.Course, ch *course.Chapter, colour bool) (string, error) {
	have, err := mine(c, ch)
	if err != nil {
		return "", err
	}
	want, err := solution(c, ch)
	if err != nil {
		return "", err
	}
	module, err := stagedModule(c, ch)
	if err != nil {
		return "", err
	}
	for name, f := range want {
		f.Data = toChapter(name, f.Data, module)
		want[name] = f
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			delete(have, name) // the learner's own: the solution has no say in it
		}
	}
	return diff(ctx, have, want, c.Rel(ch.Dir), c.Rel(ch.Solution), colour)
}

// diff compares two sets of files with git, which makes the same text
// everywhere. from and to are the names before the paths.
func diff(ctx context.Context, a, b Files, from, to string, colour bool) (string, error) {
	dir, err := os.MkdirTemp("", "lab-diff-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	for side, files := range map[string]Files{from: a, to: b} {
		if err := os.MkdirAll(filepath.Join(dir, side), 0o700); err != nil {
			return "", err
		}
		for name, f := range files {
			if err := writeFile(filepath.Join(dir, side, filepath.FromSlash(name)), f.Data); err != nil {
				return "", err
			}
		}
	}
	when := "--color=never"
	if colour {
		when = "--color=always"
	}
	out, exit, err := git(ctx, dir, "", "-c", "core.quotePath=false", "diff", "--no-index", "--no-prefix", "--no-renames", "--diff-algorithm=histogram", when, from, to)
	if exit == 1 { // there are differences
		return out, nil
	}
	return out, err
}
