// Package hint carries what to do next together with what went wrong.
//
// An error says what failed, for whoever reads a log. A hint says what the
// person at the keyboard can do about it. The command line prints both:
//
//	error: build the control plane: no space left on device
//	hint:  free about 4 GB, or move Go's build cache: export GOCACHE=/bigger/disk
//
// A hint is attached once, where the cause is known best, and survives any
// amount of wrapping with %w.
package hint

import (
	"errors"
	"fmt"
)

// Error is an error with a hint. It reads and unwraps as Err.
type Error struct {
	Err  error
	Hint string
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that the hint is about.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error, formatted as fmt.Errorf does (so %w works), with a hint.
func New(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// Of returns the hint nearest to the surface of err's chain, or "" if nobody
// gave one.
func Of(err error) string {
	var e *Error
	for errors.As(err, &e) {
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}
