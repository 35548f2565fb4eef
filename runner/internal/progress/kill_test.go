package progress

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A child process of a test counts hints up in one fact of its own, and says each
// number once it is written.
const (
	childHome = "PROGRESS_TEST_HOME"
	childName = "PROGRESS_TEST_NAME"
	childEnd  = "PROGRESS_TEST_END" // 0 = never
)

func TestMain(m *testing.M) {
	home := os.Getenv(childHome)
	if home == "" {
		os.Exit(m.Run())
	}
	name := os.Getenv(childName)
	end, _ := strconv.Atoi(os.Getenv(childEnd))
	for {
		n := 0
		_, err := Update(context.Background(), home, func(s *State) error {
			n = s.Hints(name, "Test") + 1
			s.SetHints(name, "Test", n)
			return nil
		})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(n)
		if n == end {
			os.Exit(0)
		}
	}
}

func child(t *testing.T, home, name string, end int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childHome+"="+home, childName+"="+name, childEnd+"="+strconv.Itoa(end))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// Whenever a writer is killed, the file is whole, and what it had said to be
// written is there.
func TestKillLosesNothing(t *testing.T) {
	home := t.TempDir()
	kept := "streak of a later lab " + strings.Repeat("x", 64<<10) // more than one page
	require.NoError(t, os.WriteFile(filepath.Join(home, "progress"), []byte(head+kept+"\n"), 0o600))
	for round := range 30 {
		cmd, said := child(t, home, "kill", 0)
		require.True(t, said.Scan(), "no child came to write")
		last, err := strconv.Atoi(said.Text())
		require.NoError(t, err, said.Text())
		// A little later each round, so that the kill strikes at every part of it.
		timer := time.AfterFunc(time.Duration(round)*700*time.Microsecond, func() { _ = cmd.Process.Kill() })
		for said.Scan() {
			n, err := strconv.Atoi(said.Text())
			require.NoError(t, err, said.Text())
			last = n
		}
		_ = cmd.Wait()
		timer.Stop()
		s, err := Load(home)
		require.NoError(t, err)
		require.Empty(t, s.Damaged())
		assert.GreaterOrEqual(t, s.Hints("kill", "Test"), last)
		data, err := os.ReadFile(filepath.Join(home, "progress"))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(data), head+kept+"\n"))
	}
	left, err := filepath.Glob(filepath.Join(home, "*"))
	require.NoError(t, err)
	assert.LessOrEqual(t, len(left), 3, "the file, the lock, and at most one half of a killed writer")
}

// Two terminals write at once: no update is lost.
func TestTogether(t *testing.T) {
	home := t.TempDir()
	const each = 40
	var all []*exec.Cmd
	for _, name := range []string{"a", "b", "c"} {
		cmd, said := child(t, home, name, each)
		go func() {
			for said.Scan() {
			}
		}()
		all = append(all, cmd)
	}
	for _, cmd := range all {
		assert.NoError(t, cmd.Wait())
	}
	s, err := Load(home)
	require.NoError(t, err)
	for _, name := range []string{"a", "b", "c"} {
		assert.Equal(t, each, s.Hints(name, "Test"))
	}
	assert.Len(t, s.lines, 3)
}
