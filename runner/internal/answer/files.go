package answer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
)

// File is one file of an answer.
type File struct {
	Data []byte
	// Origin is the real file, as a person is told it.
	Origin string
}

// Files is an answer: by path from the chapter's folder, with slashes.
type Files map[string]File

// Load reads an answer's files.
func Load(ctx context.Context, c *course.Course, ch *course.Chapter, n Name) (Files, error) {
	switch n.Kind {
	case Mine:
		return mine(c, ch)
	case Solution:
		return solution(c, ch)
	case Submission:
		return submission(ch, n.Of)
	default:
		patch := PatchFile(ch, n)
		shown := c.Rel(patch)
		p, err := ReadPatch(patch, shown)
		if err != nil {
			return nil, noSuchPatch(ch, n, err)
		}
		base, err := solution(c, ch)
		if err != nil {
			return nil, err
		}
		return apply(ctx, c, ch, base, p, shown)
	}
}

// noSuchPatch adds to the error the names that there are.
func noSuchPatch(ch *course.Chapter, n Name, err error) error {
	names, _ := Patches(ch, n.Kind)
	if n.Kind == Stub || len(names) == 0 || slices.Contains(names, n) {
		return err
	}
	var all []string
	for _, name := range names {
		all = append(all, name.String())
	}
	return hint.New("there are "+strings.Join(all, ", "), "%w", err)
}

// mine is what lies in the chapter's folder: its files:, and the Go files that
// the learner added there or below. Never a _test.go.
func mine(c *course.Course, ch *course.Chapter) (Files, error) {
	files, err := read(c, ch, ch.Dir)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(ch.Dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(ch.Dir, p)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && skipDir(p, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if _, listed := files[rel]; listed || !theirs(d) || given(ch, rel) {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		files[rel] = File{data, c.Rel(p)}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read your files: %w", err)
	}
	return files, nil
}

// theirs says whether a file of the chapter's folder that files: does not name
// belongs to the learner's answer.
func theirs(d fs.DirEntry) bool {
	n := d.Name()
	// In any spelling: a disk may take X_TEST.GO for x_test.go.
	lower := strings.ToLower(n)
	return d.Type().IsRegular() && strings.HasSuffix(n, ".go") && !strings.HasSuffix(lower, "_test.go") &&
		lower != "deps.go" && !strings.HasPrefix(n, ".") && !strings.HasPrefix(n, "_")
}

// given says whether a Go file is the course's: one that the solution has under
// the same name, and that files: does not hand to the learner.
func given(ch *course.Chapter, rel string) bool {
	if slices.Contains(ch.Files, rel) || !strings.HasSuffix(rel, ".go") || path.Base(rel) == "deps.go" {
		return false
	}
	_, err := os.Stat(filepath.Join(ch.Solution, filepath.FromSlash(rel)))
	return err == nil
}

func skipDir(p, name string) bool {
	if skippedDir(name) {
		return true
	}
	// A module of its own is none of the chapter's.
	_, err := os.Stat(filepath.Join(p, "go.mod"))
	return err == nil
}

// skippedDir says whether a folder is one in which no code is added.
func skippedDir(name string) bool {
	return name == "testdata" || name == "vendor" || name == "config" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func solution(c *course.Course, ch *course.Chapter) (Files, error) {
	if _, err := os.Stat(ch.Solution); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s", c.Rel(ch.Solution))
	}
	return read(c, ch, ch.Solution)
}

func read(c *course.Course, ch *course.Chapter, dir string) (Files, error) {
	names := ch.Files
	files := Files{}
	for _, name := range names {
		p := filepath.Join(dir, filepath.FromSlash(name))
		data, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue // files: may name one that only an answer has; the compiler says what is missing
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", c.Rel(p), err)
		}
		files[name] = File{data, c.Rel(p)}
	}
	if len(files) == 0 {
		return nil, hint.New(fmt.Sprintf("make reset-%d puts them back", ch.Number), "%s holds none of the chapter's files (%s)", c.Rel(dir), strings.Join(names, ", "))
	}
	return files, nil
}

// apply lays the patch over the solution's files.
func apply(ctx context.Context, c *course.Course, ch *course.Chapter, base Files, p *Patch, shown string) (Files, error) {
	if strings.TrimSpace(p.Diff) == "" {
		return nil, hint.New("below its head a patch holds a unified diff; `bin/lab author edit` writes one", "%s changes nothing", shown)
	}
	for _, f := range p.Touches() {
		if !slices.Contains(ch.Files, f) {
			return nil, hint.New("a patch changes what chapter.yaml lists in files:, nothing else", "%s touches %q", shown, f)
		}
	}
	dir, err := os.MkdirTemp("", "lab-patch-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, f := range base {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), f.Data); err != nil {
			return nil, err
		}
	}
	if _, exit, err := git(ctx, dir, p.Diff, "apply", "--whitespace=nowarn", "-"); err != nil {
		if exit < 0 {
			return nil, err
		}
		return nil, hint.New(fmt.Sprintf("the solution has changed below it: `bin/lab author rebase %d`", ch.Number), "%s does not apply: %w", shown, firstLine(err))
	}
	files := Files{}
	err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, at)
		rel = filepath.ToSlash(rel)
		if !slices.Contains(ch.Files, rel) {
			return hint.New("a patch changes what chapter.yaml lists in files:, nothing else", "%s makes %q", shown, rel)
		}
		data, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		origin := c.Rel(filepath.Join(ch.Solution, filepath.FromSlash(rel)))
		if !bytes.Equal(data, base[rel].Data) {
			origin += " (with " + path.Base(shown) + ")"
		}
		files[rel] = File{data, origin}
		return nil
	})
	return files, err
}

func firstLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(strings.TrimPrefix(strings.TrimPrefix(line, "git apply: "), "error: "))
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}
