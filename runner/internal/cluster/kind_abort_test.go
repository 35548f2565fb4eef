package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A call of the library knows no context: what it works on is taken away until it
// returns, and what ended it is the error.
func TestInterruptible(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var aborted atomic.Int64
	gone := make(chan struct{})
	err := interruptible(ctx, func() error {
		cancel(enough)
		<-gone
		return errors.New("the container is gone")
	}, func() {
		if aborted.Add(1) == 2 { // what is taken away once may be made again
			close(gone)
		}
	})
	require.ErrorIs(t, err, enough)
	assert.NotErrorIs(t, err, errStillRunning)
	assert.EqualValues(t, 2, aborted.Load())

	broken := errors.New("broken")
	err = interruptible(t.Context(), func() error { return broken }, func() { t.Error("nothing was interrupted") })
	require.ErrorIs(t, err, broken)
}

// To a second command a half-made cluster looks like one that a kill left, and it
// would remove it: it waits instead.
func TestKindOneCommandAtATime(t *testing.T) {
	asked := fakeDocker(t, map[string]string{"info": goodInfo, "ps": someNode})
	said := &buffer{}
	k := newKind(Options{Home: t.TempDir(), Status: said})
	other, err := k.lock(t.Context())
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, k.keep(&kindRecord{Name: "controllings"}))

	enough := errors.New("enough")
	for name, command := range map[string]func(context.Context) error{"up": k.Up, "down": k.Down} {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, enough)
		require.ErrorIs(t, command(ctx), enough, name)
		cancel()
	}
	assert.Contains(t, said.String(), "waiting for it")
	assert.Empty(t, asked(), "Docker was asked, or told, something")
}
