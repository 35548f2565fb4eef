// Package lessons runs the commands that the lessons show and compares what they
// print: a lesson's output is real, or it is not there.
//
// The convention, for README.md, chapters/*/README.md and solutions/*/README.md:
//
//   - A block fenced as console is run: "$ COMMAND", then what it prints on
//     standard output; several commands a block, if one likes. It runs by sh from
//     the repository's root, in a terminal without colours.
//   - <!-- run: COMMAND --> in the line above the fence runs that instead of what
//     is shown, as when the lesson says make chapter-1 and means the run of one
//     answer: <!-- run: bin/lab run 1 --answer stub -->. Such a block may show
//     the output alone.
//   - <!-- not run: WHY --> leaves the block as it is.
//   - A block fenced as sh is to be pasted, has no output and is not run.
//   - A line of output that is … alone stands for any number of lines.
//
// Times, dates, sizes, ports, UIDs, names of namespaces and of Pods may differ:
// see mask.go. Updating writes only where more than that differs.
package lessons

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// shell runs a command of a lesson. A variable, so that tests need no cluster.
var shell = func(ctx context.Context, r *repo.Repo, line string) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = r.Root
	// What make verify says to its children is nothing to a make in a lesson.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CLICOLOR_FORCE", "FORCE_COLOR"}, name)
	})
	cmd.Env = append(cmd.Env, "TERM=dumb", "NO_COLOR=1", "COLUMNS=80")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		err = nil // a red verdict is worth showing
	}
	return out.String(), errs.String(), err
}

// Files returns the texts as they should be.
func Files(ctx context.Context, r *repo.Repo) ([]repo.File, error) {
	texts, err := texts(r)
	if err != nil || len(texts) == 0 {
		return nil, err
	}
	restore, err := cluster(ctx, r)
	if err != nil {
		return nil, err
	}
	files, err := runAll(ctx, r, texts)
	return files, errors.Join(err, restore())
}

// texts returns the texts that have a block to run.
func texts(r *repo.Repo) ([]repo.File, error) {
	names := []string{"README.md"}
	chapters, err := r.Chapters()
	if err != nil {
		return nil, err
	}
	for _, c := range chapters {
		names = append(names, path.Join("chapters", c, "README.md"), path.Join("solutions", c, "README.md"))
	}
	var found []repo.File
	for _, name := range names {
		data, err := os.ReadFile(r.Path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		bs, err := blocks(strings.Split(string(data), "\n"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(bs) > 0 {
			found = append(found, repo.File{Path: name, Data: data})
		}
	}
	return found, nil
}

func runAll(ctx context.Context, r *repo.Repo, texts []repo.File) ([]repo.File, error) {
	var files []repo.File
	for _, t := range texts {
		data, err := rewrite(ctx, r, string(t.Data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Path, err)
		}
		files = append(files, repo.File{Path: t.Path, Data: []byte(data)})
	}
	return files, nil
}

// rewrite runs the blocks of a text and returns it with what they print. A block
// that is the same but for what masks cover stays as it is.
func rewrite(ctx context.Context, r *repo.Repo, text string) (string, error) {
	lines := strings.Split(text, "\n")
	bs, err := blocks(lines)
	if err != nil {
		return "", err
	}
	var out []string
	next := 0
	for _, b := range bs {
		out = append(out, lines[next:b.start]...)
		next = b.end
		for _, c := range b.commands {
			stdout, stderr, err := shell(ctx, r, c.run)
			if err != nil {
				return "", fmt.Errorf("line %d: %s: %w\n%s", b.start+1, c.run, err, stderr)
			}
			if strings.TrimSpace(stdout) == "" && stderr != "" {
				return "", fmt.Errorf("line %d: %s prints nothing but:\n%s", b.start+1, c.run, stderr)
			}
			// Nobody's own folder belongs in a lesson.
			stdout = strings.ReplaceAll(stdout, r.Root+string(os.PathSeparator), "")
			got := strings.Split(strings.Trim(stdout, "\n"), "\n")
			if len(got) == 1 && got[0] == "" {
				got = nil
			}
			if c.shown != "" {
				out = append(out, "$ "+c.shown)
			}
			if same(c.output, got) {
				got = c.output
			}
			for _, line := range got {
				out = append(out, strings.TrimRight(line, " \t\r"))
			}
		}
	}
	return strings.Join(append(out, lines[next:]...), "\n"), nil
}

// cluster builds bin/lab, and returns what leaves the cluster as it was found.
func cluster(ctx context.Context, r *repo.Repo) (restore func() error, err error) {
	if _, err := repo.Output(ctx, r.Root, nil, "make", "lab"); err != nil {
		return nil, err
	}
	lab := r.Path("bin/lab")
	if _, err := repo.Output(ctx, r.Root, nil, lab, "cluster", "status"); err == nil {
		return func() error { return nil }, nil
	}
	up := exec.CommandContext(ctx, lab, "cluster", "up")
	up.Dir, up.Stdout, up.Stderr = r.Root, os.Stderr, os.Stderr
	if err := up.Run(); err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	return func() error {
		// Also after Ctrl-C.
		_, err := repo.Output(context.WithoutCancel(ctx), r.Root, nil, lab, "cluster", "down")
		return err
	}, nil
}
