package testbed

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How often a condition is asked: fast at first, since most come true at once.
const (
	firstPause = 20 * time.Millisecond
	maxPause   = 250 * time.Millisecond
)

// Condition says whether something holds, and in any case what there is to see,
// for a person to read: "2 of 3 Pods are Ready". Its context ends with the time
// limit. It runs on the test's goroutine.
type Condition = func(ctx context.Context) (ok bool, seen string)

// Eventually waits until cond holds, at most so long, and fails with f if it
// doesn't. Seen is what cond saw last. The time limit is stretched by Scale.
func (b *Bed) Eventually(within time.Duration, f Fail, cond Condition) {
	b.t.Helper()
	within = Scale(within)
	held, seen := b.poll(within, func(ok bool) bool { return ok }, cond)
	if held {
		return
	}
	b.mustAnswer()
	f.Seen = lines(f.Seen, fmt.Sprintf("after %s: %s", round(within), seen))
	b.Fail(f)
}

// Stays fails with f if cond ceases to hold before the window is over. An absence
// is easily "seen" on a cluster that is dead, so the API server must answer at
// the window's beginning and at its end; if not, the verdict is "error". The
// window is stretched by Scale.
func (b *Bed) Stays(window time.Duration, f Fail, cond Condition) {
	b.t.Helper()
	window = Scale(window)
	b.mustAnswer()
	start := time.Now()
	broke, seen := b.poll(window, func(ok bool) bool { return !ok }, cond)
	b.mustAnswer()
	if broke {
		f.Seen = lines(f.Seen, fmt.Sprintf("after %s of %s: %s", round(time.Since(start)), round(window), seen))
		b.Fail(f)
	}
}

// poll asks cond again and again until the answer is the one that done wants, or
// the time is over. It asks at the start and at the very end.
func (b *Bed) poll(within time.Duration, done func(ok bool) bool, cond Condition) (bool, string) {
	b.t.Helper()
	// One last look may take a little longer than the limit allows.
	ctx, cancel := context.WithTimeout(b.Context(), within+Scale(time.Second))
	defer cancel()
	end := time.Now().Add(within)
	for pause := firstPause; ; pause = min(pause*3/2, maxPause) {
		last := !time.Now().Before(end)
		ok, seen := cond(ctx)
		b.checkFailed()
		if done(ok) {
			return true, seen
		}
		if last {
			return false, seen
		}
		timer := time.NewTimer(min(pause, max(time.Until(end), 0)))
		select {
		case <-timer.C:
		case <-b.report.failed:
			timer.Stop()
		}
	}
}

// mustAnswer gives up if the API server doesn't answer.
func (b *Bed) mustAnswer() {
	b.t.Helper()
	if b.control.silent() {
		// The check itself has stopped it: then that must be all that is wrong.
		ctx, cancel := context.WithTimeout(context.Background(), Scale(5*time.Second))
		defer cancel()
		b.Must(b.control.asLeft(ctx), "ask the cluster for a sign of life")
		return
	}
	patience := 5 * time.Second
	if b.control != nil {
		patience = 20 * time.Second // the check may have killed it
	}
	ctx, cancel := context.WithTimeout(context.Background(), Scale(patience))
	defer cancel()
	err := b.signOfLife(ctx)
	for err != nil && b.control != nil && ctx.Err() == nil {
		timer := time.NewTimer(maxPause)
		select {
		case <-timer.C:
			err = b.signOfLife(ctx)
		case <-ctx.Done():
			timer.Stop()
		}
	}
	b.Must(err, "ask the API server for a sign of life")
}

func (b *Bed) signOfLife(ctx context.Context) error {
	// It must be the server's word, not a connection's: this reads from etcd.
	ns, err := b.getNamespace(ctx)
	if err == nil && ns.Name != b.namespace {
		err = errors.New("another namespace came back")
	}
	return err
}

func round(d time.Duration) time.Duration {
	switch {
	case d > 10*time.Second:
		return d.Round(time.Second)
	case d > time.Second:
		return d.Round(100 * time.Millisecond)
	default:
		return d.Round(time.Millisecond)
	}
}
