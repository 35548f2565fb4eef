package answer

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// tryLock takes the lock at path without waiting; nil, nil if somebody has it.
// The kernel gives it back when the process dies, however it dies.
func tryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, nil
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	return func() { f.Close() }, nil
}
