// Package lock takes locks on files. They hold between processes, and the kernel
// gives one back when the last process that holds the file dies, however it dies.
package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Try takes the lock at path without waiting. The file is the lock: to close it
// is to give it back. It is nil if somebody else has the lock.
func Try(path string) (*os.File, error) { return try(path, syscall.LOCK_EX) }

// Wait takes the lock at path as soon as nobody else has it. busy, if not nil, is
// called once when there is somebody to wait for. The error is the cause of
// ctx's end if that comes first.
func Wait(ctx context.Context, path string, busy func()) (*os.File, error) {
	return wait(ctx, path, syscall.LOCK_EX, busy)
}

// WaitShared is Wait for a lock that others may hold at the same time if they
// take it with WaitShared too.
func WaitShared(ctx context.Context, path string) (*os.File, error) {
	return wait(ctx, path, syscall.LOCK_SH, nil)
}

// wait polls: a call that blocks in the kernel can't be ended by a context.
func wait(ctx context.Context, path string, how int, busy func()) (*os.File, error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		f, err := try(path, how)
		if f != nil || err != nil {
			return f, err
		}
		if busy != nil {
			busy()
			busy = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %q: %w", path, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

func try(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, nil
	}
	return nil, fmt.Errorf("lock %q: %w", path, err)
}
