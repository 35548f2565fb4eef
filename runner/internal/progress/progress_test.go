package progress

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/lock"
	"github.com/controllings/controllings/runner/internal/verdict"
)

func update(t *testing.T, home string, change func(*State)) *State {
	t.Helper()
	s, err := Update(context.Background(), home, func(s *State) error { change(s); return nil })
	require.NoError(t, err)
	return s
}

func result(chapter, digest string, checks ...verdict.Check) *verdict.Result {
	return &verdict.Result{Chapter: chapter, Digest: digest, Checks: checks}
}

func TestProgress(t *testing.T) {
	home := filepath.Join(t.TempDir(), "not there yet")
	s, err := Load(home)
	require.NoError(t, err)
	assert.False(t, s.SolutionSeen("01-x"))
	assert.Zero(t, s.Hints("01-x", "TestA"))
	_, ran := s.LastRun("01-x")
	assert.False(t, ran)

	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("there", 3600))
	update(t, home, func(s *State) {
		s.SetSolutionSeen("01-x")
		s.SetSolutionSeen("01-x")
		s.SetHints("01-x", "TestA", 1)
		s.SetHints("01-x", "TestA", 2)
		s.SetRun(result("01-x", "abc", verdict.Check{Test: "TestA", Status: verdict.Passed}, verdict.Check{Test: "TestB", Status: verdict.Failed}), at)
		s.SetRun(result("01-x", "def", verdict.Check{Test: "TestB", Status: verdict.Passed}, verdict.Check{Test: "TestC", Status: verdict.NotStarted}), at)
	})
	path := filepath.Join(home, "progress")
	want := head + `solution 01-x
hints 01-x TestA 2
run 01-x 2026-01-02T02:04:05Z def
check 01-x TestB passed
check 01-x TestC not_started
`
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want, string(data))
	s, err = Load(home)
	require.NoError(t, err)
	assert.True(t, s.SolutionSeen("01-x"))
	assert.False(t, s.SolutionSeen("01"))
	assert.Equal(t, 2, s.Hints("01-x", "TestA"))
	assert.Zero(t, s.Hints("01-x", "TestB"))
	r, ran := s.LastRun("01-x")
	assert.True(t, ran)
	assert.True(t, at.Equal(r.At))
	assert.Equal(t, Run{At: r.At, Digest: "def", Checks: map[string]verdict.Status{"TestB": verdict.Passed, "TestC": verdict.NotStarted}}, r)
	assert.Empty(t, s.Damaged())

	// Where nothing changes, nothing is written.
	before, err := os.Stat(path)
	require.NoError(t, err)
	update(t, home, func(s *State) { s.SetSolutionSeen("01-x") })
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))

	update(t, home, func(s *State) { s.Forget("01-x") })
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, head+"solution 01-x\n", string(data))
	left, err := filepath.Glob(filepath.Join(home, "*"))
	require.NoError(t, err)
	assert.Equal(t, []string{path, path + ".lock"}, left, "no half-written file stays")
}

// What is not understood is told, does no harm, and is kept as it was.
func TestDamaged(t *testing.T) {
	lines := map[string]bool{ // text → damaged
		"solution 02-y":                   false,
		"streak 02-y 7 days":              false, // a later lab's
		"hints 02-y TestA 2 and more":     false,
		"solution":                        true,
		"hints 02-y TestB":                true,
		"hints 02-y TestB many":           true,
		"hints 02-y TestB -1":             true,
		"run 02-y yesterday abc":          true,
		"run 02-y":                        true,
		"check 02-y TestA fine":           true,
		"check 02-y":                      true,
		"check 02-y TestA pas":            true, // cut off
		"check 02-y TestA passed\x00\x00": true,
		"so\xff\xfe":                      true,
		"\x00\x00\x00\x00":                true,
		"hints 02-y TestC 99999999999999999999999999999999": true,
		"<<<<<<< HEAD":                                          false,
		"   check   02-y\tTestD   passed   ":                    false,
		"run 02-y 2026-01-02T02:04:05Z abc":                     false,
		"check 02-y TestE failed # a note of the learner's own": false,
	}
	home := t.TempDir()
	text, damaged := "# my notes\r\n\r\n", 0
	for l, bad := range lines {
		text += l + "\r\n"
		if bad {
			damaged++
		}
	}
	path := filepath.Join(home, "progress")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	s := update(t, home, func(s *State) { s.SetHints("03-z", "TestA", 1) })
	assert.Len(t, s.Damaged(), damaged)
	assert.True(t, s.SolutionSeen("02-y"))
	assert.Equal(t, 2, s.Hints("02-y", "TestA"))
	assert.Zero(t, s.Hints("02-y", "TestB"))
	r, _ := s.LastRun("02-y")
	assert.Equal(t, map[string]verdict.Status{"TestD": verdict.Passed, "TestE": verdict.Failed}, r.Checks)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for l := range lines {
		assert.Contains(t, string(data), l+"\n")
	}
	assert.Contains(t, string(data), "hints 03-z TestA 1\n")
	s, err = Load(home)
	require.NoError(t, err)
	assert.Len(t, s.Damaged(), damaged)
	assert.Contains(t, s.Damaged()[0], path+":")
}

func TestNotAFile(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, "progress"), 0o700))
	_, err := Load(home)
	require.Error(t, err)
	assert.NotEmpty(t, hint.Of(err))
	_, err = Update(context.Background(), home, func(*State) error { return nil })
	assert.Error(t, err)

	home = t.TempDir()
	f, err := os.Create(filepath.Join(home, "progress"))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(1<<40))
	require.NoError(t, f.Close())
	_, err = Load(home)
	require.Error(t, err)
	assert.NotEmpty(t, hint.Of(err))
}

// A command that was stopped in the middle of its update is waited for, not for
// ever.
func TestLocked(t *testing.T) {
	home := t.TempDir()
	held, err := lock.Try(filepath.Join(home, "progress.lock"))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = Update(ctx, home, func(*State) error { return nil })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NotEmpty(t, hint.Of(err))
	require.NoError(t, held.Close())
	update(t, home, func(s *State) { s.SetSolutionSeen("01-x") })
}
