package answer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/controllings/controllings/runner/internal/course"
)

// Reset puts the stubs back into a chapter. What lay there is kept first, as a
// copy whose folder is returned; "" says that nothing had been changed.
//
// The copy is whole before the first file is touched, and each file is replaced
// by a rename: a kill at any moment loses nothing.
func Reset(ctx context.Context, c *course.Course, ch *course.Chapter, now time.Time) (kept string, err error) {
	stubs, err := stubFiles(ctx, c, ch)
	if err != nil {
		return "", err
	}
	have, err := mine(c, ch)
	if err != nil && !noneLeft(ch) {
		return "", err
	}
	if equal(have, stubs) {
		return "", nil
	}
	if len(have) > 0 {
		if kept, err = keep(c, ch, have, now); err != nil {
			return "", err
		}
	}
	for _, name := range sortedNames(stubs) {
		if err := ReplaceFile(filepath.Join(ch.Dir, filepath.FromSlash(name)), stubs[name].Data); err != nil {
			return kept, fmt.Errorf("put %s back: %w", name, err)
		}
	}
	for name := range have {
		if _, ok := stubs[name]; !ok { // one that the learner added: it is in the copy
			if err := os.Remove(filepath.Join(ch.Dir, filepath.FromSlash(name))); err != nil {
				return kept, fmt.Errorf("take %s out: %w", name, err)
			}
		}
	}
	return kept, nil
}

// stubFiles is the exercise as it lies in an untouched chapter.
func stubFiles(ctx context.Context, c *course.Course, ch *course.Chapter) (Files, error) {
	stubs, err := Load(ctx, c, ch, Name{Kind: Stub})
	if err != nil {
		return nil, err
	}
	module, err := stagedModule(c, ch)
	if err != nil {
		return nil, err
	}
	for name, f := range stubs {
		f.Data = toChapter(name, f.Data, module)
		stubs[name] = f
	}
	return stubs, nil
}

// Changed lists the files of a chapter that are not as in the beginning.
func Changed(ctx context.Context, c *course.Course, ch *course.Chapter) ([]string, error) {
	stubs, err := stubFiles(ctx, c, ch)
	if err != nil {
		return nil, err
	}
	have, err := mine(c, ch)
	if err != nil {
		return nil, err
	}
	var changed []string
	for name := range have {
		if _, ok := stubs[name]; !ok {
			changed = append(changed, name)
		}
	}
	for name, f := range stubs {
		if g, ok := have[name]; !ok || !bytes.Equal(f.Data, g.Data) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed, nil
}

// noneLeft says that the learner deleted every one of the chapter's files.
func noneLeft(ch *course.Chapter) bool {
	return !slices.ContainsFunc(ch.Files, func(f string) bool {
		_, err := os.Lstat(filepath.Join(ch.Dir, filepath.FromSlash(f)))
		return err == nil
	})
}

func equal(a, b Files) bool {
	if len(a) != len(b) {
		return false
	}
	for name, f := range a {
		if g, ok := b[name]; !ok || !bytes.Equal(f.Data, g.Data) {
			return false
		}
	}
	return true
}

// keep copies files into a new dated folder, complete or not there at all.
func keep(c *course.Course, ch *course.Chapter, files Files, now time.Time) (string, error) {
	base := filepath.Join(c.Home, "kept")
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", fmt.Errorf("keep your work: %w", err)
	}
	half, err := os.MkdirTemp(base, ".half-")
	if err != nil {
		return "", fmt.Errorf("keep your work: %w", err)
	}
	defer os.RemoveAll(half)
	for name, f := range files {
		if err := writeFile(filepath.Join(half, filepath.FromSlash(name)), f.Data); err != nil {
			return "", fmt.Errorf("keep your work: %w", err)
		}
	}
	name := filepath.Join(base, ch.ID+"-"+now.Format("2006-01-02T15-04-05"))
	for i := 1; ; i++ {
		to := name
		if i > 1 {
			to = fmt.Sprintf("%s-%d", name, i)
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Rename(half, to); err != nil {
			return "", fmt.Errorf("keep your work: %w", err)
		}
		return to, nil
	}
}

// ReplaceFile writes a file of the checkout, mode 0644, so that it is the old or
// the new one at any moment. Folders that are missing are made.
func ReplaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".lab-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func sortedNames(files Files) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
