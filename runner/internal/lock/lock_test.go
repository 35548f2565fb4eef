package lock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	held, err := Try(path)
	require.NoError(t, err)
	require.NotNil(t, held)

	again, err := Try(path)
	require.NoError(t, err)
	require.Nil(t, again, "it was given out twice")

	waits, got := make(chan struct{}), make(chan error)
	go func() {
		f, err := Wait(t.Context(), path, func() { close(waits) })
		if err == nil {
			err = f.Close()
		}
		got <- err
	}()
	<-waits
	require.NoError(t, held.Close())
	require.NoError(t, <-got)
}

func TestSharedKeepsOnlyTheLonelyOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	var shared []*os.File
	for range 2 {
		f, err := WaitShared(t.Context(), path)
		require.NoError(t, err)
		shared = append(shared, f)
	}
	for _, f := range shared {
		alone, err := Try(path)
		require.NoError(t, err)
		require.Nil(t, alone)
		require.NoError(t, f.Close())
	}
	alone, err := Try(path)
	require.NoError(t, err)
	require.NotNil(t, alone)
	require.NoError(t, alone.Close())
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	held, err := Try(path)
	require.NoError(t, err)
	defer held.Close()

	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = Wait(ctx, path, func() { cancel(why) })
	require.ErrorIs(t, err, why)
	assert.Contains(t, err.Error(), "a.lock")
}

func TestAFolderThatIsNotThere(t *testing.T) {
	_, err := Try(filepath.Join(t.TempDir(), "none", "a.lock"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
