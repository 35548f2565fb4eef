package informers_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	informers "github.com/controllings/controllings/chapters/02-informers"
	"github.com/controllings/controllings/testbed"
)

func TestEnqueueAppsOnlyEnqueues(t *testing.T) {
	b := testbed.New(t)
	b.Create(newPod("web-0", "web"), newPod("web-1", "web"), newPod("db-0", "db"), newPod("solo-0", "solo"), newPod("lone", ""))

	expectSync(b, "EnqueueApps", handlersPart, podReads, func(ctx context.Context) error {
		return informers.EnqueueApps(ctx, b.Clientset(), b.Namespace(), func(string) {})
	})

	var calls told
	open := calls.shut()
	defer open()
	c := begin(b, "EnqueueApps", handlersPart, func(ctx context.Context) error {
		return informers.EnqueueApps(ctx, b.Clientset(), b.Namespace(), calls.add)
	})
	b.Eventually(patient, testbed.Fail{
		Expected: "enqueue to be called for the Pods that were there",
		See:      handlersPart,
	}, func(context.Context) (bool, string) { return len(calls.all()) > 0, "no call" })
	c.expectWaiting(b, "EnqueueApps to return when enqueue has returned for all Pods that were there: its first call is under way")
	open()
	c.expectReturn(b, "when enqueue has been called for the Pods that were there")
	expectFirst(b, c, &calls)

	key := func(app string) string { return b.Namespace() + "/" + app }
	for _, step := range []struct {
		when string
		act  func()
		want []string
	}{
		{"when a Pod of app web was made", func() { b.Create(newPod("web-2", "web")) }, []string{key("web")}},
		{"when a Pod of app web was changed", func() { setStatus(b, "web-2", corev1.PodRunning, true) }, []string{key("web")}},
		{"when a Pod was moved from app web to app shop: both are told, the old one first", func() {
			changePod(b, "web-2", func(pod *corev1.Pod) { pod.Labels["app"] = "shop" })
		}, []string{key("web"), key("shop")}},
		{"when a Pod of app shop has lost its label", func() {
			changePod(b, "web-2", func(pod *corev1.Pod) { pod.Labels = nil })
		}, []string{key("shop")}},
		{"and nothing for Pods without the label, when a Pod of app mark was made", func() {
			setStatus(b, "lone", corev1.PodRunning, true)
			deletePod(b, "lone")
			b.Create(newPod("mark-0", "mark"))
		}, []string{key("mark")}},
	} {
		step.act()
		calls.expect(b, step.when, handlersPart, step.want...)
	}

	expectDeletions(b, &calls)
	expectAllInOrder(b, &calls)
	c.expectOnlyReads(b, podReads)
	c.expectEnd(b)
}

// expectFirst looks at the calls for the Pods that were there, which come in any
// order.
func expectFirst(b *testbed.Bed, c *call, calls *told) {
	want := []string{b.Namespace() + "/db", b.Namespace() + "/solo", b.Namespace() + "/web", b.Namespace() + "/web"}
	got := calls.all()
	calls.expected = len(got)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("enqueue called once for each Pod with a label app when %s returns: %s", c.name, orNothing(want)),
			Seen:     orNothing(got),
			See:      handlersPart,
		})
	}
}

// expectDeletions deletes two Pods, one of them unseen. The API server may change a
// Pod before it is gone, and a new list may bring updates of Pods that have not
// changed, so there may be more keys; all of them come before that of a Pod which is
// made afterwards.
func expectDeletions(b *testbed.Bed, calls *told) {
	deletePod(b, "db-0")
	expectAmong(b, calls, "db", "mark-1", "when db-0 was deleted")
	unseen(b, podWatches, 1, func() { deletePod(b, "solo-0") })
	expectAmong(b, calls, "solo", "mark-2", "when solo-0 was deleted and no event told of it: the watch broke off, and a new list shows what is there")
}

func expectAmong(b *testbed.Bed, calls *told, app, mark, when string) {
	b.Create(newPod(mark, mark))
	next := func() []string { return calls.all()[calls.expected:] }
	f := testbed.Fail{Expected: b.Namespace() + "/" + app + " " + when, See: handlersPart}
	b.Eventually(patient, f, func(context.Context) (bool, string) {
		return slices.Contains(next(), b.Namespace()+"/"+mark), orNothing(next())
	})
	got := next()
	calls.expected += len(got)
	if !slices.Contains(got, b.Namespace()+"/"+app) {
		f.Seen = orNothing(got)
		b.Fail(f)
	}
}

// expectAllInOrder lets enqueue be slow while Pods of many apps are made.
func expectAllInOrder(b *testbed.Bed, calls *told) {
	const many = 150
	open := calls.shut()
	defer open()
	all := make([]testbed.Object, many)
	for i := range all {
		name := fmt.Sprintf("app-%03d", i)
		all[i] = newPod(name, name)
	}
	b.Create(all...)
	b.Create(newPod("last", "last"))
	b.Eventually(patient, testbed.Fail{
		Expected: fmt.Sprintf("enqueue called for the first of %d Pods", many),
		See:      handlersPart,
	}, func(context.Context) (bool, string) { return len(calls.all()) > calls.expected, "no call" })
	b.Stays(moment, testbed.Fail{
		Expected: "one call of enqueue at a time: the next when it has returned",
		See:      handlersPart,
	}, func(context.Context) (bool, string) {
		n := len(calls.all()) - calls.expected
		return n == 1 && !calls.overlapped(), fmt.Sprintf("%d calls, and the first is still under way", n)
	})
	open()

	slices.SortFunc(all, func(x, y testbed.Object) int { return version(b, x) - version(b, y) })
	var want []string
	for _, pod := range all {
		want = append(want, b.Namespace()+"/"+pod.GetName())
	}
	want = append(want, b.Namespace()+"/last")
	f := testbed.Fail{
		Expected: fmt.Sprintf("the keys of all %d Pods, in the order in which they were made, although enqueue was slow", len(want)),
		See:      handlersPart,
	}
	b.Eventually(patient, f, func(context.Context) (bool, string) {
		got := calls.all()[calls.expected:]
		return len(got) >= len(want), fmt.Sprintf("%d keys", len(got))
	})
	if got := calls.all()[calls.expected:]; !slices.Equal(got, want) {
		f.Seen = fmt.Sprintf("%d keys in another order: %s", len(got), orNothing(got))
		b.Fail(f)
	}
}

// version is the order in which the API server has made the objects of one type.
func version(b *testbed.Bed, object testbed.Object) int {
	n, err := strconv.Atoi(object.GetResourceVersion())
	b.Must(err, "read a resourceVersion")
	return n
}
