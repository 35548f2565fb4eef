package plane

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/controllings/controllings/controlplane/supervise"
)

// Down stops the control plane and returns when its last process is gone. The
// data stays. It is no error if nothing is up.
func (d Dir) Down(ctx context.Context) error {
	const patience = grace + etcdGrace + 4*time.Second
	began := time.Now()
	told, killed := 0, false
	for {
		locked, err := supervise.Locked(d.lockFile())
		if err != nil {
			return explain(err)
		}
		if !locked {
			// A supervisor that was killed could not tidy up.
			d.tidy()
			return nil
		}
		// The lock is held, so the pid in the state file is the holder's.
		if r, err := d.readState(); err == nil && r.Supervisor > 1 {
			switch {
			case told != r.Supervisor:
				if err := syscall.Kill(r.Supervisor, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
					return fmt.Errorf("stop supervisor: %w", err)
				}
				told = r.Supervisor
			case !killed && time.Since(began) > patience:
				_ = syscall.Kill(r.Supervisor, syscall.SIGKILL) // its children follow
				killed = true
			}
		}
		if time.Since(began) > 2*patience {
			return withHint(errors.New("stop the control plane: a process does not end"),
				"find it by this folder's name and end it: ps ax | grep controlplane")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stop the control plane: %w", context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
