package answer

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/lock"
)

// Staged is an answer laid out as a module of its own, ready to be built.
type Staged struct {
	Dir    string // absolute
	real   string // Dir without symbolic links
	Module string // the chapter's module path, whatever the answer
	Name   Name
	Digest string // names the state of the answer's files
	// Offences are the lines by which the answer reaches for its judge. One is
	// enough not to run it.
	Offences []Offence

	judged  bool              // laid out to be run, not to be edited
	origins map[string]string // staged path → the real file, as shown
	unlock  func()
}

// Close lets another run use the folder. The files stay: the next run writes
// only what has changed, so that Go's cache and its own stamps stay warm.
func (s *Staged) Close() { s.unlock() }

// Origin is the real file behind a staged one (a path from the stage's root,
// with slashes), as a person is told it.
func (s *Staged) Origin(rel string) (string, bool) {
	o, ok := s.origins[rel]
	return o, ok
}

// Rel is the staged path (from the stage's root, with slashes) of a file that a
// program names by its full path. The go command names it without symbolic links.
func (s *Staged) Rel(file string) (string, bool) {
	for _, dir := range []string{s.Dir, s.real} {
		if rel, ok := strings.CutPrefix(file, dir+string(filepath.Separator)); ok {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// Program is the folder of an answer's own program, in a chapter that has one.
const Program = "cmd/manager"

// HasProgram says whether the answer has a program of its own.
func (s *Staged) HasProgram() bool {
	for rel := range s.origins {
		if path.Dir(rel) == Program && strings.HasSuffix(rel, ".go") {
			return true
		}
	}
	return false
}

// IsCheck says whether a staged path is one of the course's checks.
func (s *Staged) IsCheck(rel string) bool { return strings.HasSuffix(rel, "_test.go") }

// Stage lays out an answer under the course's home.
func Stage(ctx context.Context, c *course.Course, ch *course.Chapter, n Name) (*Staged, error) {
	files, err := Load(ctx, c, ch, n)
	if err != nil {
		return nil, err
	}
	base := filepath.Join(c.Home, "stage", ch.ID, strings.ReplaceAll(n.String(), "/", "-"))
	dir, unlock, err := lockedDir(base)
	if err != nil {
		return nil, stageError(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		unlock()
		return nil, stageError(err)
	}
	s := &Staged{Dir: dir, real: real, Name: n, judged: true, unlock: unlock}
	if err := s.lay(c, ch, files); err != nil {
		unlock()
		return nil, stageError(err)
	}
	return s, nil
}

// lockedDir makes and locks base, or base.2 … while other terminals hold those
// before. The same answer gets the same folder again, and so what Go's cache has
// of it.
func lockedDir(base string) (string, func(), error) {
	if err := os.MkdirAll(filepath.Dir(base), 0o700); err != nil {
		return "", nil, err
	}
	for i := 1; i <= 100; i++ {
		dir := base
		if i > 1 {
			dir = fmt.Sprintf("%s.%d", base, i)
		}
		held, err := lock.Try(dir + ".lock")
		if err != nil {
			return "", nil, err
		}
		if held == nil {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			_ = held.Close()
			return "", nil, err
		}
		return dir, func() { _ = held.Close() }, nil
	}
	return "", nil, fmt.Errorf("a hundred runs hold %q", base)
}

func stageError(err error) error {
	return fmt.Errorf("stage the answer: %w", err)
}

// lay writes the module: the answer, the course's checks, config/ and testdata/,
// go.mod and go.sum. What an earlier run left and this one does not need goes.
func (s *Staged) lay(c *course.Course, ch *course.Chapter, files Files) error {
	s.origins = map[string]string{}
	want := map[string][]byte{}

	mod, err := stagedMod(c, ch)
	if err != nil {
		return err
	}
	module := mod.Module.Mod.Path
	s.Module, s.Digest = module, files.Digest()
	if want["go.mod"], err = mod.Format(); err != nil {
		return err
	}

	if err := s.addCourse(c, ch, want); err != nil {
		return err
	}
	taken := map[string]bool{}
	for name := range want {
		taken[strings.ToLower(name)] = true
	}
	s.Offences = guard(files, module)
	reports := slices.ContainsFunc(mod.Require, func(r *modfile.Require) bool {
		return strings.HasPrefix(channelOf(module), r.Mod.Path+"/")
	})
	for name, f := range files {
		// In any spelling: on a disk that takes Doc.go for doc.go, the answer's
		// must not come to lie in the place of the course's.
		if taken[strings.ToLower(name)] {
			continue
		}
		want[name], s.origins[name] = toChapter(name, f.Data, module), f.Origin
		if s.judged && reports && strings.HasSuffix(name, ".go") {
			want[name] = reportFirst(want[name], module)
		}
	}
	return sync(s.Dir, want)
}

// addCourse adds what the answer has no say in.
func (s *Staged) addCourse(c *course.Course, ch *course.Chapter, want map[string][]byte) error {
	return filepath.WalkDir(ch.Dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(ch.Dir, p)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		courses := rel == "go.sum" || strings.HasSuffix(rel, "_test.go") || given(ch, rel) ||
			strings.HasPrefix(rel, "config/") || strings.HasPrefix(rel, "testdata/")
		// What files: names is the answer's, also where the answer lacks it.
		if !courses || !d.Type().IsRegular() || slices.Contains(ch.Files, rel) {
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		want[rel], s.origins[rel] = data, c.Rel(p)
		return nil
	})
}

// stagedMod is the chapter's go.mod with the folders of its replacements made
// absolute, so that it means the same from the stage.
func stagedMod(c *course.Course, ch *course.Chapter) (*modfile.File, error) {
	const mend = "put it back with git checkout: the chapter's go.mod is the course's"
	name := filepath.Join(ch.Dir, "go.mod")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, hint.New(mend, "read %s: %w", c.Rel(name), err)
	}
	f, err := modfile.Parse(c.Rel(name), data, nil)
	if err != nil {
		return nil, hint.New(mend, "%w", err)
	}
	if f.Module == nil {
		return nil, hint.New(mend, "%s names no module", c.Rel(name))
	}
	for _, r := range f.Replace {
		if r.New.Version != "" || filepath.IsAbs(r.New.Path) {
			continue
		}
		to := filepath.Join(ch.Dir, filepath.FromSlash(r.New.Path))
		if err := f.AddReplace(r.Old.Path, r.Old.Version, to, ""); err != nil {
			return nil, fmt.Errorf("%s: replace %s: %w", c.Rel(name), r.Old.Path, err)
		}
	}
	f.Cleanup()
	return f, nil
}

// stagedModule is the chapter's module path.
func stagedModule(c *course.Course, ch *course.Chapter) (string, error) {
	f, err := stagedMod(c, ch)
	if err != nil {
		return "", err
	}
	return f.Module.Mod.Path, nil
}

// Binary is the name of the compiled checks in a stage.
const Binary = "check.test"

// sync makes dir hold exactly want (and the compiled checks), touching only
// what differs.
func sync(dir string, want map[string][]byte) error {
	var stale []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if _, ok := want[filepath.ToSlash(rel)]; !ok && !strings.HasPrefix(rel, Binary) {
			stale = append(stale, p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range stale {
		if err := os.Remove(p); err != nil {
			return err
		}
	}
	for rel, data := range want {
		p := filepath.Join(dir, filepath.FromSlash(rel))
		if same(p, data) {
			continue
		}
		// An earlier check may have left anything at all in this place.
		if err := os.RemoveAll(p); err != nil {
			return err
		}
		if err := writeFile(p, data); err != nil {
			return err
		}
	}
	return nil
}

// same says whether path is a plain file with that content.
func same(path string, data []byte) bool {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	have, err := os.ReadFile(path)
	return err == nil && bytes.Equal(have, data)
}
