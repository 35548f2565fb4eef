package supervise

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock is an exclusive lock on a file. It belongs to the open file, not to the
// process: a child that inherits File holds the lock with its parent, and it is
// free once all of them closed it or died.
type Lock struct{ f *os.File }

// TryLock takes the lock at path, making the file if need be, or returns
// ErrLocked at once. The file stays after Unlock: removing it would let two
// processes each lock a file of the same name.
func TryLock(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	return &Lock{f: f}, nil
}

// Locked reports whether some process holds the lock at path. It takes the lock
// for an instant to find out, so whoever wants it should try more than once.
func Locked(path string) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	l, err := TryLock(path)
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, l.Close()
}

// Inherit takes over a lock that the parent process passed as file descriptor
// fd, and keeps it from being passed on by accident.
func Inherit(fd uintptr) *Lock {
	unix.CloseOnExec(int(fd))
	return &Lock{f: os.NewFile(fd, "lock")}
}

// File is what a child inherits to hold the lock too.
func (l *Lock) File() *os.File { return l.f }

// Close gives up this process's hold. Children that inherited it keep theirs.
func (l *Lock) Close() error { return l.f.Close() }
