// Package files writes files so that a reader, or a power cut, never meets half
// of one.
package files

import (
	"fmt"
	"os"
	"path/filepath"
)

// Private modes: what the control plane keeps holds keys, so nobody else reads it.
const (
	DirMode  os.FileMode = 0o700
	FileMode os.FileMode = 0o600
)

// MkdirAll makes a folder and its parents for the owner alone. A folder that
// exists already is narrowed to the owner as well; its parents are left as
// they are.
func MkdirAll(dir string) error {
	if err := os.MkdirAll(dir, DirMode); err != nil {
		return err
	}
	return os.Chmod(dir, DirMode)
}

// Write replaces the file at path with data, mode 0600, in one step: it writes
// a neighbour and renames it. On failure the old file is untouched and the
// neighbour is gone.
func Write(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %q: %w", path, err)
		}
	}()
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Chmod(FileMode); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
