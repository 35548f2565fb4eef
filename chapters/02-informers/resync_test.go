package informers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	informers "github.com/controllings/controllings/chapters/02-informers"
	"github.com/controllings/controllings/testbed"
)

func TestWatchChangesRechecks(t *testing.T) {
	b := testbed.New(t)
	createMap(b, "a", "1")
	createMap(b, "b", "1")
	nothing := func(string) {}

	expectSync(b, "WatchChanges", resyncPart, mapReads, func(ctx context.Context) error {
		return informers.WatchChanges(ctx, b.Clientset(), b.Namespace(), time.Second, nothing, nothing)
	})

	var changed, rechecked told
	open := changed.shut()
	defer open()
	c := begin(b, "WatchChanges", resyncPart, func(ctx context.Context) error {
		return informers.WatchChanges(ctx, b.Clientset(), b.Namespace(), time.Second, changed.add, rechecked.add)
	})
	c.expectWaiting(b, "WatchChanges to return when changed has returned for all ConfigMaps that were there")
	open()
	c.expectReturn(b, "when changed has been called for all ConfigMaps that were there")
	expectCounts(b, &changed, "when WatchChanges returns", 1, 1)

	b.Eventually(patient, testbed.Fail{
		Expected: "recheck to be called for a and b in every period, which is a second here",
		See:      resyncPart,
	}, func(context.Context) (bool, string) {
		x, y := count(&rechecked, "a"), count(&rechecked, "b")
		return x >= 2 && y >= 2, fmt.Sprintf("%d calls for a and %d for b", x, y)
	})
	expectCounts(b, &changed, "after two resyncs, in which nothing has changed", 1, 1)
	c.expectOneWatch(b, mapReads)

	changeMap(b, "a", func(cm *corev1.ConfigMap) { cm.Data["is"] = "a-2" })
	expectCounts(b, &changed, "when a has been changed", 2, 1)
	unseen(b, mapWatches, 1, func() {
		changeMap(b, "b", func(cm *corev1.ConfigMap) { cm.Data["is"] = "b-2" })
	})
	expectCounts(b, &changed, "when b has been changed while the watch was broken off, and a new list shows both", 2, 2)
	c.expectOnlyReads(b, mapReads)
	c.expectEnd(b)

	for _, period := range []time.Duration{0, -time.Minute, 999 * time.Millisecond} {
		short := begin(b, "WatchChanges", resyncPart, func(ctx context.Context) error {
			return informers.WatchChanges(ctx, b.Clientset(), b.Namespace(), period, nothing, nothing)
		})
		f := testbed.Fail{Expected: fmt.Sprintf("an error for the period %s: client-go has no resync in less than a second", period), See: resyncPart}
		b.Eventually(patient, f, func(context.Context) (bool, string) { return short.returned(), "it has not returned" })
		short.stop(nil)
		if short.err == nil {
			f.Seen = "no error"
			b.Fail(f)
		}
	}
}

func count(calls *told, name string) int {
	n := 0
	for _, got := range calls.all() {
		if got == name {
			n++
		}
	}
	return n
}

// expectCounts waits until changed has been called so often for a and b, and no more.
func expectCounts(b *testbed.Bed, changed *told, when string, wantA, wantB int) {
	f := testbed.Fail{
		Expected: fmt.Sprintf("changed called %d times for a and %d times for b in all, %s", wantA, wantB, when),
		See:      resyncPart,
	}
	b.Eventually(patient, f, func(context.Context) (bool, string) {
		x, y := count(changed, "a"), count(changed, "b")
		return x >= wantA && y >= wantB, fmt.Sprintf("%d times for a and %d times for b", x, y)
	})
	if x, y := count(changed, "a"), count(changed, "b"); x != wantA || y != wantB {
		f.Seen = fmt.Sprintf("%d times for a and %d times for b", x, y)
		b.Fail(f)
	}
}
