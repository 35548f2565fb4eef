package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/controllings/controllings/runner/internal/hint"
)

func mkdir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return explain(fmt.Errorf("make folder: %w", err))
	}
	return nil
}

// writeFile replaces the file at path in one step, mode 0600.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return explain(fmt.Errorf("write %q: %w", path, err))
	}
	_, err = f.Write(data) // CreateTemp made it 0600
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return explain(fmt.Errorf("write %q: %w", path, err))
	}
	return nil
}

// makeCurrent writes the kubeconfig that is the current one to path, unless it is
// that already: a learner's every run asks for it.
func makeCurrent(path string, kubeconfig []byte) error {
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, kubeconfig) {
		return nil
	}
	return writeFile(path, kubeconfig)
}

// explain adds a hint to errors whose cause is the machine's.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return hint.New("free some space on that disk, then try again", "%w", err)
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return hint.New("put the course, or LAB_HOME, into a folder you can write to", "%w", err)
	}
	return err
}
