package sharing_test

import (
	"fmt"
	"testing"
	"time"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
	"github.com/controllings/controllings/testbed"
)

const limiterPart = "README.md#limiters"

func TestLimiterSharesItsBudget(t *testing.T) {
	b := testbed.New(t)
	for _, look := range []func() *testbed.Fail{ownFailures, everybodysFailures, neverLongerThanLongest, quietTime} {
		var wrong *testbed.Fail
		withoutWaiting(t, func() { wrong = look() }) // a bucket fills by the clock
		if wrong != nil {
			b.Fail(*wrong)
		}
	}
}

// ownFailures looks at one key with a budget that is never used up.
func ownFailures() *testbed.Fail {
	const base, longest = 100 * time.Millisecond, 5 * time.Minute
	l := sharing.NewLimiter(base, longest, 1e6, 1e6)
	k, other := key("settings"), key("colours")
	l.When(other)
	wait := base
	for n := 1; n <= 200; n++ {
		if got := l.When(k); got != wait {
			return wrongWait(fmt.Sprintf("failure %d of a key in a row, from %s to %s, and a budget that is never used up", n, base, longest), wait, got)
		}
		wait = min(2*wait, longest)
	}
	if got := l.NumRequeues(k); got != 200 {
		return &testbed.Fail{Expected: "NumRequeues to tell how often a key has failed in a row: 200", Seen: fmt.Sprint(got), See: limiterPart}
	}
	l.Forget(k)
	if got := l.NumRequeues(k); got != 0 {
		return &testbed.Fail{Expected: "NumRequeues to tell 0 after Forget", Seen: fmt.Sprint(got), See: limiterPart}
	}
	if got := l.When(k); got != base {
		return wrongWait("the first failure of a key after Forget", base, got)
	}
	if got := l.When(other); got != 2*base {
		return wrongWait("the second failure of a key, and Forget for another in between", 2*base, got)
	}
	return nil
}

// everybodysFailures looks at many keys that fail once each.
func everybodysFailures() *testbed.Fail {
	const base, qps, burst = 10 * time.Millisecond, 2.5, 5
	l := sharing.NewLimiter(base, time.Hour, qps, burst)
	for i := range 25 {
		want := base
		if i >= burst {
			want = max(base, time.Duration(float64(i-burst+1)/qps*float64(time.Second)))
		}
		if got := l.When(key(fmt.Sprint("key-", i))); !near(got, want) {
			return wrongWait(fmt.Sprintf("retry %d, at one time, of %d keys that share a budget of %g a second after %d at once", i+1, 25, qps, burst), want, got)
		}
	}
	// What a key has to wait for itself may be longer.
	l = sharing.NewLimiter(time.Minute, time.Hour, qps, burst)
	for i := range 10 {
		if got := l.When(key(fmt.Sprint("key-", i))); !near(got, time.Minute) {
			return wrongWait("a key's first failure, with a wait of its own of 1m and one of seconds for the budget", time.Minute, got)
		}
	}
	return nil
}

// neverLongerThanLongest looks at thousands of keys.
func neverLongerThanLongest() *testbed.Fail {
	const longest = 30 * time.Second
	l := sharing.NewLimiter(10*time.Millisecond, longest, 10, 100)
	for i := range 5000 {
		if got := l.When(key(fmt.Sprint("key-", i))); got > longest {
			return &testbed.Fail{
				Expected: fmt.Sprintf("5000 keys that fail at one time, 10 retries a second: none of them put off for more than %s", longest),
				Seen:     fmt.Sprintf("a wait of %s for key %d", got, i+1),
				See:      limiterPart,
			}
		}
	}
	return nil
}

// quietTime looks at a budget that was used up, after a while.
func quietTime() *testbed.Fail {
	const base = 10 * time.Millisecond
	l := sharing.NewLimiter(base, time.Hour, 2, 5)
	for i := range 9 {
		l.When(key(fmt.Sprint("key-", i)))
	}
	pass(10 * time.Second) // enough for 20
	for i := range 5 {
		if got := l.When(key(fmt.Sprint("later-", i))); !near(got, base) {
			return wrongWait(fmt.Sprintf("retry %d of 5 after a quiet time, in which the budget was filled up", i+1), base, got)
		}
	}
	if got := l.When(key("later-5")); !near(got, time.Second/2) {
		return wrongWait("one retry more than the budget holds after a quiet time", time.Second/2, got)
	}
	return nil
}

// near leaves room for how a bucket counts.
func near(got, want time.Duration) bool { return (got - want).Abs() <= time.Millisecond }

func wrongWait(what string, want, got time.Duration) *testbed.Fail {
	return &testbed.Fail{Expected: fmt.Sprintf("%s: a wait of %s", what, want), Seen: fmt.Sprintf("a wait of %s", got), See: limiterPart}
}
