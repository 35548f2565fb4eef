package plane

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// Error is an error with what to do about it.
type Error struct {
	Err  error
	Hint string
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that the hint is about.
func (e *Error) Unwrap() error { return e.Err }

func withHint(err error, hint string) error { return &Error{Err: err, Hint: hint} }

const diskHint = "free at least 300 MB on the disk that holds the course's .lab folder, then try again; nothing is lost"

// explain adds the hint to errors whose cause is the machine's.
func explain(err error) error {
	var known *Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return withHint(err, diskHint)
	case errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission):
		return withHint(err, "choose a folder you can write to: export LAB_HOME=/some/folder")
	default:
		return err
	}
}

// diskFull reports whether log lines tell of a full disk.
func diskFull(lines []string) bool {
	return mention(lines, "no space left on device", "disk quota exceeded")
}

// portTaken reports whether log lines tell of a port that another process has.
func portTaken(lines []string) bool { return mention(lines, "address already in use") }

func mention(lines []string, words ...string) bool {
	for _, l := range lines {
		for _, w := range words {
			if strings.Contains(strings.ToLower(l), w) {
				return true
			}
		}
	}
	return false
}
