package answer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/controllings/controllings/runner/internal/course"
)

// Diff is the way from the learner's files to the solution's, as a unified diff
// of the chapter's files in their order, "" if they are the same. A step narrows
// it to the files in which the stubs have something to do for it.
func Diff(ctx context.Context, c *course.Course, ch *course.Chapter, step string, colour bool) (string, error) {
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
	names := ch.Files
	if step != "" {
		if names, err = filesOf(ctx, c, ch, step); err != nil {
			return "", err
		}
	}
	var all strings.Builder
	for _, name := range names {
		a, b := Files{}, Files{}
		if f, ok := have[name]; ok {
			a[name] = f
		}
		if f, ok := want[name]; ok {
			b[name] = f
		}
		one, err := diff(ctx, a, b, c.Rel(ch.Dir), c.Rel(ch.Solution), colour)
		if err != nil {
			return "", err
		}
		all.WriteString(one)
	}
	return all.String(), nil
}

// filesOf are the files whose stubs bear a step's number.
func filesOf(ctx context.Context, c *course.Course, ch *course.Chapter, step string) ([]string, error) {
	stubs, err := stubFiles(ctx, c, ch)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range ch.Files {
		if bytes.Contains(stubs[name].Data, []byte("TODO("+step+")")) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no stub of chapter %d has a TODO(%s)", ch.Number, step)
	}
	return names, nil
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
