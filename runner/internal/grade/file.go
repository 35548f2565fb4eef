package grade

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/controllings/controllings/runner/internal/hint"
)

// File is where a grade is kept while it grows. It is whole at any moment, and
// so says at any moment how far the grade is, also after a kill.
type File struct{ path string }

// NewFile takes the place of a result, and an earlier result away: what is there
// from now on is this grade's. It follows no link, which a submission might have
// laid there.
func NewFile(path string) (*File, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, hint.New("name a plain file; without --output the result goes to stdout", "%q is no plain file", path)
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("make the result file: %w", err)
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, hint.New("make it first, or name another", "there is no folder %q for the result", dir)
	}
	return &File{path}, nil
}

// Write replaces what the file holds.
func (f *File) Write(data []byte) error {
	t, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	defer os.Remove(t.Name())
	_, err = t.Write(data)
	// Whoever collects it may be another user: it holds no secret.
	err = errors.Join(err, t.Chmod(0o644), t.Sync(), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
