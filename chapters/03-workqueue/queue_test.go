package sharing_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
	"github.com/controllings/controllings/testbed"
)

const retriesPart = "README.md#retries"

func TestRetriesNeverEnd(t *testing.T) {
	b := testbed.New(t)
	expectBoundedWaits(t, b)
	expectOwnCounts(t, b)
}

// expectBoundedWaits has a key fail for an hour, succeed, and fail again.
func expectBoundedWaits(t *testing.T, b *testbed.Bed) {
	const base, longest = 7 * time.Millisecond, 20 * time.Second
	var r *run
	var failing int // tries within the hour
	var fixed time.Duration
	withoutWaiting(t, func() {
		var broken atomic.Bool
		broken.Store(true)
		r = start(sharing.NewQueue(base, longest), 1, func(context.Context, sharing.Key, int) error {
			if broken.Load() {
				return errScripted
			}
			return nil
		})
		r.Add(key("settings"))
		pass(time.Hour)
		r.mu.Lock()
		failing = len(r.at[key("settings")])
		broken.Store(false)
		r.mu.Unlock()
		from := time.Now()
		pass(time.Hour)
		r.mu.Lock()
		if at := r.at[key("settings")]; len(at) > failing {
			fixed = at[failing].Sub(from)
		}
		r.mu.Unlock()
		broken.Store(true)
		r.Add(key("settings"))
		pass(time.Minute)
		r.ShutDown()
		pass(2000 * time.Hour)
	})

	at := r.at[key("settings")]
	story := fmt.Sprintf("a key that fails for an hour, in a queue with waits from %s to %s", base, longest)
	wait, last := base, r.start
	for i := 1; i < failing; i++ {
		if got := at[i].Sub(at[i-1]); got != wait {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("%s: retry %d after %s", story, i, wait),
				Seen:     fmt.Sprintf("after %s; tries at %s", got, after(r.start, at)),
				See:      retriesPart,
			})
		}
		wait, last = min(2*wait, longest), at[i]
	}
	if fixed == 0 || fixed > longest {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("%s: one more try at most %s after the cause is mended", story, longest),
			Seen: fmt.Sprintf("%s, the last of them %s after the first failure, and none within an hour of the mending",
				plural(failing, "failure"), last.Sub(r.start)),
			See: retriesPart,
		})
	}
	if len(at) < failing+3 || at[failing+2].Sub(at[failing+1]) != base {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("%s, then succeeds, then fails once more: the retry after %s again", story, base),
			Seen:     "tries since the success at " + after(r.start, at[failing:]),
			See:      retriesPart,
		})
	}
}

// expectOwnCounts has thousands of keys fail at the same time, again and again.
func expectOwnCounts(t *testing.T, b *testbed.Bed) {
	const n, failures, base = 3000, 6, 50 * time.Millisecond
	var r *run
	withoutWaiting(t, func() {
		r = start(sharing.NewQueue(base, time.Minute), 1, func(_ context.Context, _ sharing.Key, nth int) error {
			if nth <= failures {
				return errScripted
			}
			return nil
		})
		for i := range n {
			r.Add(key(fmt.Sprintf("key-%d", i)))
		}
		pass(time.Hour)
		r.ShutDown()
		pass(2000 * time.Hour)
	})
	for i := range n {
		at := r.at[key(fmt.Sprintf("key-%d", i))]
		right := len(at) == failures+1
		for nth, wait := 1, base; right && nth <= failures; nth, wait = nth+1, 2*wait {
			right = at[nth].Sub(at[nth-1]) == wait
		}
		if !right {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("%d keys that each fail %d times, at the same time: each of them again after %s, %s and so on, and not later because others fail", n, failures, base, 2*base),
				Seen:     fmt.Sprintf("key %d of them tried at %s", i+1, after(r.start, at)),
				See:      retriesPart,
			})
		}
	}
}
