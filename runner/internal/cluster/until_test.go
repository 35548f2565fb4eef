package cluster

import (
	"context"
	"time"
)

// until polls: there is nothing to be told by what these tests wait for. It
// reports whether cond came true before ctx ended.
func until(ctx context.Context, cond func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
