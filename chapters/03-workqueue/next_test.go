package sharing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
	"github.com/controllings/controllings/testbed"
)

const protocolPart = "README.md#the-protocol"

var errScripted = errors.New("the check says so")

func TestNextKeepsTheProtocol(t *testing.T) {
	b := testbed.New(t)
	expectRetries(t, b)
	expectOneAtATime(t, b)
	expectNoWaiting(t, b)
	expectPanicIsNoEnd(t, b)
	expectEndOnlyAtTheEnd(t, b)
}

// run is what a check has seen of workers that call Next.
type run struct {
	*ledger
	start time.Time

	mu      sync.Mutex
	at      map[sharing.Key][]time.Time // when handle was called
	reports map[sharing.Key][]error
	ended   int // workers to which Next has returned false
}

// rateLimited is a queue with waits of 1s, 2s, 4s … for each key.
func rateLimited() sharing.Queue {
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[sharing.Key](time.Second, time.Hour))
}

// tooOften is how many calls show a loop that doesn't wait.
const tooOften = 2000

// start lets workers call Next on a queue until they are told to stop.
func start(queue sharing.Queue, workers int, handle func(ctx context.Context, key sharing.Key, nth int) error) *run {
	r := &run{ledger: newLedger(queue), start: time.Now(), at: map[sharing.Key][]time.Time{}, reports: map[sharing.Key][]error{}}
	for range workers {
		go func() {
			for sharing.Next(context.Background(), r.ledger, func(ctx context.Context, k sharing.Key) error {
				r.mu.Lock()
				r.at[k] = append(r.at[k], time.Now())
				n := len(r.at[k])
				r.mu.Unlock()
				if n > tooOften {
					pass(1000 * time.Hour) // it would never end
				}
				return handle(ctx, k, n)
			}, func(k sharing.Key, err error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.reports[k] = append(r.reports[k], err)
			}) {
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.ended++
		}()
	}
	return r
}

// expectRetries has a key fail twice, succeed, and fail again a while later.
func expectRetries(t *testing.T, b *testbed.Bed) {
	var r *run
	var endedEarly int
	withoutWaiting(t, func() {
		r = start(rateLimited(), 1, func(_ context.Context, _ sharing.Key, nth int) error {
			switch nth {
			case 1:
				return fmt.Errorf("%w: %w", errScripted, apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "settings", errScripted))
			case 2:
				return fmt.Errorf("%w: a request of its own took too long: %w", errScripted, context.Canceled)
			case 4:
				return errScripted
			}
			return nil
		})
		r.Add(key("settings"))
		pass(100 * time.Second)
		r.Add(key("settings"))
		pass(100 * time.Second)
		r.mu.Lock()
		endedEarly = r.ended
		r.mu.Unlock()
		r.ShutDown()
		pass(2000 * time.Hour)
	})

	const story = "a key that fails twice, succeeds, and 100s later fails once more"
	k := key("settings")
	at := r.at[k]
	switch {
	case endedEarly > 0:
		b.Fail(testbed.Fail{
			Expected: story + ": Next to return true after an error, for its worker to go on",
			Seen:     fmt.Sprintf("Next returned false after %s of handle", plural(len(at), "call")),
			See:      protocolPart,
		})
	case r.done[k] != r.taken[k]:
		b.Fail(testbed.Fail{
			Expected: story + ": a Done for each time that Get gave the key out, no more and no less",
			Seen:     fmt.Sprintf("Get gave it out %d times, and Done was called %d times", r.taken[k], r.done[k]),
			See:      protocolPart,
		})
	case len(at) != r.taken[k]:
		b.Fail(testbed.Fail{
			Expected: story + ": one call of handle for each time that Get gives the key out",
			Seen:     fmt.Sprintf("%d calls of handle, and %d of Get", len(at), r.taken[k]),
			See:      protocolPart,
		})
	case len(at) < 3:
		b.Fail(testbed.Fail{
			Expected: story + ": three tries, the third of which succeeds",
			Seen:     plural(len(at), "try") + ": at " + after(r.start, at),
			See:      protocolPart,
		})
	case len(at) > 5:
		b.Fail(testbed.Fail{
			Expected: story + ": five tries, with the queue's wait before each retry",
			Seen:     plural(len(at), "call") + " of handle: at " + after(r.start, at),
			See:      protocolPart,
		})
	case at[1].Sub(at[0]) != time.Second || at[2].Sub(at[1]) != 2*time.Second:
		b.Fail(testbed.Fail{
			Expected: story + ": the first two retries after the queue's waits, 1s and then 2s (AddRateLimited)",
			Seen:     "tries at " + after(r.start, at),
			See:      protocolPart,
		})
	case len(at) != 5 || at[4].Sub(at[3]) != time.Second:
		b.Fail(testbed.Fail{
			Expected: story + ": after the success the failures before it are forgotten, and the next retry comes after 1s again",
			Seen:     "tries at " + after(r.start, at),
			See:      protocolPart,
		})
	}
	if errs := r.reports[k]; len(errs) != 3 || slices.ContainsFunc(errs, func(err error) bool { return !errors.Is(err, errScripted) }) {
		b.Fail(testbed.Fail{
			Expected: story + ": its 3 errors handed to report, and nothing else",
			Seen:     fmt.Sprintf("%s: %v", plural(len(errs), "report"), errs),
			See:      protocolPart,
		})
	}
	if r.forgets[k] == 0 {
		b.Fail(testbed.Fail{
			Expected: story + ": Forget after its success",
			Seen:     "no Forget",
			See:      protocolPart,
		})
	}
}

// expectOneAtATime adds a key again and again while it is worked on.
func expectOneAtATime(t *testing.T, b *testbed.Bed) {
	var r *run
	var mu sync.Mutex
	busy, together := map[sharing.Key]int{}, 0
	var otherAt []time.Time
	withoutWaiting(t, func() {
		r = start(rateLimited(), 2, func(_ context.Context, k sharing.Key, _ int) error {
			mu.Lock()
			busy[k]++
			together = max(together, busy[k])
			mu.Unlock()
			pass(10 * time.Second)
			mu.Lock()
			busy[k]--
			mu.Unlock()
			return nil
		})
		r.Add(key("settings"))
		pass(time.Second)
		for range 3 {
			r.Add(key("settings"))
			pass(time.Second)
		}
		r.Add(key("colours")) // at 4s: the other worker is free for it
		pass(100 * time.Second)
		r.mu.Lock()
		otherAt = slices.Clone(r.at[key("colours")])
		r.mu.Unlock()
		r.ShutDown()
		pass(time.Hour)
	})

	const story = "two workers, and a key that is added three more times while one of them works on it"
	at := r.at[key("settings")]
	switch {
	case together > 1:
		b.Fail(testbed.Fail{
			Expected: story + ": the key in one worker at a time",
			Seen:     fmt.Sprintf("%d workers on it at once", together),
			See:      protocolPart,
		})
	case len(at) != 2 || at[1].Sub(at[0]) != 10*time.Second:
		b.Fail(testbed.Fail{
			Expected: story + ": one more turn for all three, when the first is over (after 10s)",
			Seen:     "turns at " + after(r.start, at),
			See:      protocolPart,
		})
	case len(otherAt) != 1 || otherAt[0].Sub(r.start) != 4*time.Second:
		b.Fail(testbed.Fail{
			Expected: story + ": the other worker to take another key meanwhile, at 4s",
			Seen:     "taken at " + after(r.start, otherAt),
			See:      protocolPart,
		})
	}
}

// expectNoWaiting has one worker, a key that fails, and another that comes just
// then.
func expectNoWaiting(t *testing.T, b *testbed.Bed) {
	var r *run
	var other []time.Time
	withoutWaiting(t, func() {
		r = start(rateLimited(), 1, func(_ context.Context, k sharing.Key, _ int) error {
			if k.Name == "settings" {
				return errScripted
			}
			return nil
		})
		r.Add(key("settings"))
		pass(20 * time.Second) // tries at 0s, 1s, 3s, 7s, 15s; the next at 31s
		r.Add(key("colours"))
		pass(200 * time.Second)
		r.mu.Lock()
		other = slices.Clone(r.at[key("colours")])
		r.mu.Unlock()
		r.ShutDown()
		pass(2000 * time.Hour)
	})
	if len(other) != 1 || other[0].Sub(r.start) != 20*time.Second {
		b.Fail(testbed.Fail{
			Expected: "one worker, and a key whose retry is 11s away: a second key that is added at 20s is worked on at 20s",
			Seen:     "worked on at " + after(r.start, other),
			See:      protocolPart,
		})
	}
}

// expectPanicIsNoEnd lets handle panic once, under somebody who recovers.
func expectPanicIsNoEnd(t *testing.T, b *testbed.Bed) {
	calls := 0
	withoutWaiting(t, func() {
		queue := rateLimited()
		next := func() {
			defer func() { _ = recover() }()
			sharing.Next(context.Background(), queue, func(context.Context, sharing.Key) error {
				if calls++; calls == 1 {
					panic(errScripted)
				}
				return nil
			}, func(sharing.Key, error) {})
		}
		queue.Add(key("settings"))
		next()
		queue.Add(key("settings"))
		go next() // waits for ever if the key can't be had
		pass(time.Minute)
		queue.ShutDown()
		pass(time.Hour)
	})
	if calls != 2 {
		b.Fail(testbed.Fail{
			Expected: "a key with which handle panicked to be given out again when it is added again: Done always",
			Seen:     "the key in the queue, and no call of Next that gets it",
			See:      protocolPart,
		})
	}
}

// expectEndOnlyAtTheEnd has a queue that is shut down with a key in it, and a
// context that has ended.
func expectEndOnlyAtTheEnd(t *testing.T, b *testbed.Bed) {
	type word struct{}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), word{}, "the check's"))
	cancel()
	var first, second bool
	var got []sharing.Key
	var value any
	var reports int
	queue := newLedger(rateLimited())
	queue.Add(key("settings"))
	queue.ShutDown()
	next := func() bool {
		return sharing.Next(ctx, queue, func(ctx context.Context, k sharing.Key) error {
			got, value = append(got, k), ctx.Value(word{})
			return nil
		}, func(sharing.Key, error) { reports++ })
	}
	first = next()
	if !first || len(got) != 1 {
		b.Fail(testbed.Fail{
			Expected: "a queue that is shut down with a key in it, and a context that has ended: handle called with the key, and true",
			Seen:     fmt.Sprintf("%s of handle, and %t", plural(len(got), "call"), first),
			See:      protocolPart,
		})
	}
	if value != "the check's" {
		b.Fail(testbed.Fail{
			Expected: "handle to get the context that Next was given",
			Seen:     "another context",
			See:      protocolPart,
		})
	}
	second = next()
	if done := queue.done[key("settings")] + queue.done[sharing.Key{}]; second || len(got) != 1 || done != 1 || reports != 0 {
		b.Fail(testbed.Fail{
			Expected: "a queue that is shut down and empty: false, and nothing else done",
			Seen:     fmt.Sprintf("%t, %s of handle, %d of Done and %d of report in all", second, plural(len(got), "call"), done, reports),
			See:      protocolPart,
		})
	}
}
