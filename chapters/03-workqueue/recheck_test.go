package sharing_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
	"github.com/controllings/controllings/testbed"
)

const recheckPart = "README.md#later"

func TestRecheckIsOneMoreLook(t *testing.T) {
	b := testbed.New(t)
	minute := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	for _, c := range []struct {
		what string
		// look is what is asked for, at the start and each second after.
		looks int
		ends  func(n int, start time.Time) []time.Time
		want  []time.Duration // when the key comes again
	}{
		{
			"a request that ends in 10m", 1,
			func(_ int, start time.Time) []time.Time { return []time.Time{start.Add(minute(10))} },
			[]time.Duration{minute(10)},
		},
		{
			"a request that ends in three days", 1,
			func(_ int, start time.Time) []time.Time { return []time.Time{start.Add(72 * time.Hour)} },
			[]time.Duration{72 * time.Hour},
		},
		{
			"a request that ends in 10m, and 60 looks before that", 60,
			func(_ int, start time.Time) []time.Time { return []time.Time{start.Add(minute(10))} },
			[]time.Duration{minute(10)},
		},
		{
			"a request whose end comes 5s nearer with each of 60 looks", 60,
			func(n int, start time.Time) []time.Time {
				return []time.Time{start.Add(minute(10) - time.Duration(n)*5*time.Second)}
			},
			[]time.Duration{minute(10) - 59*5*time.Second},
		},
		{
			"requests that end in 30m, in 20m and never", 1,
			func(_ int, start time.Time) []time.Time {
				return []time.Time{start.Add(minute(30)), {}, start.Add(minute(20))}
			},
			[]time.Duration{minute(20)},
		},
		{
			"a request that ended an hour ago, and one that ends in 10m", 1,
			func(_ int, start time.Time) []time.Time {
				return []time.Time{start.Add(-time.Hour), start.Add(minute(10))}
			},
			[]time.Duration{minute(10)},
		},
		{
			"a request that ended an hour ago", 3,
			func(_ int, start time.Time) []time.Time { return []time.Time{start.Add(-time.Hour)} },
			nil,
		},
		{
			"a request that ends at the very moment of the look", 1,
			func(_ int, start time.Time) []time.Time { return []time.Time{start} },
			nil,
		},
		{
			"requests without an end", 3,
			func(int, time.Time) []time.Time { return []time.Time{{}, {}} },
			nil,
		},
	} {
		var mu sync.Mutex
		var came []time.Duration
		var took time.Duration
		var failures int
		withoutWaiting(t, func() {
			queue := rateLimited()
			start := time.Now()
			go func() {
				for {
					k, shutdown := queue.Get()
					if shutdown {
						return
					}
					mu.Lock()
					came = append(came, time.Since(start))
					mu.Unlock()
					queue.Done(k)
				}
			}()
			for n := range c.looks {
				var requests []sharing.Request
				for _, end := range c.ends(n, start) {
					requests = append(requests, sharing.Request{Source: "settings", Until: end})
				}
				now := time.Now()
				sharing.Recheck(queue, key("settings"), requests, now)
				took += time.Since(now)
				if n < c.looks-1 {
					pass(time.Second)
				}
			}
			pass(100 * time.Hour)
			failures = queue.NumRequeues(key("settings"))
			queue.ShutDown()
			pass(time.Hour)
		})
		fail := func(expected, seen string) {
			b.Fail(testbed.Fail{Expected: c.what + ": " + expected, Seen: seen, See: recheckPart})
		}
		switch {
		case took > 0:
			fail("Recheck to return at once", fmt.Sprintf("%s in it", took))
		case failures > 0:
			fail("no failure counted, since nothing has failed", plural(failures, "failure"))
		case fmt.Sprint(came) != fmt.Sprint(c.want):
			want, got := "the key in the queue once more", "never"
			if len(c.want) == 0 {
				want = "the key not in the queue again"
			} else {
				want += ", after " + c.want[0].String()
			}
			if len(came) > 0 {
				got = plural(len(came), "time") + ", the first after " + came[0].String()
			}
			fail(want, got)
		}
	}
}
