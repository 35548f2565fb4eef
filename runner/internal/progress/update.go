package progress

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/lock"
)

// lockWait is how long a command waits for another one's update, which takes some
// milliseconds. Beyond it, that one was stopped in the middle.
const lockWait = 10 * time.Second

// Update reads the state kept in home, lets change alter it, and writes it back,
// while no other command does. It returns the state that is then there. If change
// returns an error, nothing is written.
//
// The file is the old one or the new one at any moment, and the new one is on
// disk when Update returns.
func Update(ctx context.Context, home string, change func(*State) error) (*State, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("write what lab remembers: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	held, err := lock.Wait(ctx, filepath.Join(home, "progress.lock"), nil)
	if errors.Is(err, context.DeadlineExceeded) {
		err = hint.New("is another lab stopped in another terminal?", "%w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("write what lab remembers: %w", err)
	}
	defer held.Close()
	s, err := Load(home)
	if err != nil {
		return nil, err
	}
	before := s.text()
	if err := change(s); err != nil {
		return nil, err
	}
	if s.text() == before {
		return s, nil
	}
	if err := s.save(); err != nil {
		return nil, fmt.Errorf("write what lab remembers: %w", err)
	}
	return s, nil
}

func (s *State) text() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// save needs the lock: what a killed one left is written over.
func (s *State) save() error {
	fresh := s.path + ".new"
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(head + s.text())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	if err := os.Rename(fresh, s.path); err != nil {
		return err
	}
	// The rename itself, which is kept by the folder.
	dir, err := os.Open(filepath.Dir(s.path))
	if err != nil {
		return err
	}
	defer dir.Close()
	_ = dir.Sync() // some file systems can't
	return nil
}
