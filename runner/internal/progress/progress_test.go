package progress

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProgress(t *testing.T) {
	home := filepath.Join(t.TempDir(), "not there yet")
	s, err := Load(home)
	require.NoError(t, err)
	assert.False(t, s.SolutionSeen("01-x"))
	require.NoError(t, s.SetSolutionSeen("01-x"))
	require.NoError(t, s.SetSolutionSeen("01-x"))

	// A later lab wrote more; an older one keeps it.
	path := filepath.Join(home, "progress")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(data, "hints 01-x TestA 2\n"...), 0o600))
	s, err = Load(home)
	require.NoError(t, err)
	assert.True(t, s.SolutionSeen("01-x"))
	assert.False(t, s.SolutionSeen("01"))
	require.NoError(t, s.SetSolutionSeen("02-y"))
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, head+"solution 01-x\nhints 01-x TestA 2\nsolution 02-y\n", string(data))
	left, err := os.ReadDir(home)
	require.NoError(t, err)
	assert.Len(t, left, 1, "no half-written file stays")
}
