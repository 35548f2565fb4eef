package informers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	informers "github.com/controllings/controllings/chapters/02-informers"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

func TestWatchReadyAsksForLess(t *testing.T) {
	b := testbed.New(t)
	createPod(b, "web-0", "web", corev1.PodRunning, true)
	createPod(b, "web-1", "web", corev1.PodRunning, false)
	createPod(b, "web-2", "web", corev1.PodPending, true)
	createPod(b, "db-0", "db", corev1.PodRunning, true)

	expectSync(b, "WatchReady", selectingPart, podReads, func(ctx context.Context) error {
		nothing := func(string) {}
		return informers.WatchReady(ctx, b.Clientset(), b.Namespace(), "web", nothing, nothing)
	})
	expectOneApp(b)

	var calls told
	open := calls.shut()
	defer open()
	c := begin(b, "WatchReady", selectingPart, func(ctx context.Context) error {
		return informers.WatchReady(ctx, b.Clientset(), b.Namespace(), "web",
			func(name string) { calls.add("ready " + name) },
			func(name string) { calls.add("unready " + name) })
	})
	calls.expect(b, "of what was ready before", selectingPart, "ready web-0")
	expectSelected(b, c)
	c.expectWaiting(b, "WatchReady to return when ready has returned for each Pod that was ready: the call for web-0 is under way")
	open()
	c.expectReturn(b, "when ready has been called for web-0, the one Pod that was ready")

	for _, step := range []struct {
		when string
		act  func()
		want []string
	}{
		{"when web-1 has become ready", func() { setStatus(b, "web-1", corev1.PodRunning, true) }, []string{"ready web-1"}},
		{"when web-0 has got a label, and web-1 is no longer ready", func() {
			changePod(b, "web-0", func(pod *corev1.Pod) { pod.Labels["colour"] = "blue" })
			setStatus(b, "db-0", corev1.PodRunning, false)
			setStatus(b, "web-1", corev1.PodRunning, false)
		}, []string{"unready web-1"}},
		{"when web-1, which wasn't ready, is deleted, and web-2 runs", func() {
			deletePod(b, "web-1")
			setStatus(b, "web-2", corev1.PodRunning, true)
		}, []string{"ready web-2"}},
		{"when web-2 has ended (phase Succeeded), which takes it out of the selection", func() {
			setStatus(b, "web-2", corev1.PodSucceeded, true)
		}, []string{"unready web-2"}},
		{"when web-0 has got another label app", func() {
			changePod(b, "web-0", func(pod *corev1.Pod) { pod.Labels["app"] = "db" })
		}, []string{"unready web-0"}},
		{"when it has got its old label back", func() {
			changePod(b, "web-0", func(pod *corev1.Pod) { pod.Labels["app"] = "web" })
		}, []string{"ready web-0"}},
		{"when web-3 has come", func() { createBoundPod(b, "web-3", "web") }, []string{"ready web-3"}},
		{"when web-3 is being deleted, and is there and ready until its containers have stopped", func() {
			deletePodSlowly(b, "web-3")
			createPod(b, "web-4", "web", corev1.PodRunning, true)
		}, []string{"ready web-4"}},
		{"when web-3 is gone", func() { deletePod(b, "web-3") }, []string{"unready web-3"}},
		{"when web-0 was deleted and the watch broke off, so that a new list shows it", func() {
			unseen(b, podWatches, 1, func() { deletePod(b, "web-0") })
		}, []string{"unready web-0"}},
	} {
		step.act()
		calls.expect(b, step.when, selectingPart, step.want...)
	}
	calls.expect(b, "more than that", selectingPart)
	c.expectOnlyReads(b, podReads)
	c.expectEnd(b)
}

// expectSelected looks at the requests: the API server has to do the selecting.
func expectSelected(b *testbed.Bed, c *call) {
	b.NoRequestsSince(c.mark, testbed.Absence{
		Match: podReads,
		Where: func(r proxy.Request) bool {
			return letsThrough(r, "db", corev1.PodRunning) || slices.ContainsFunc(
				[]corev1.PodPhase{corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown},
				func(phase corev1.PodPhase) bool { return letsThrough(r, "web", phase) })
		},
		Presence: testbed.Presence{Match: podWatches},
	}, testbed.Fail{
		Expected: "labelSelector=app=web and fieldSelector=status.phase=Running in each list and watch, so that no other Pod is sent",
		Seen:     "requests for Pods that are thrown away here",
		See:      selectingPart,
	})
}

// letsThrough tells whether a request's selectors choose a Pod with this label and
// phase. What can't be read as a selector chooses all, as none does.
func letsThrough(r proxy.Request, app string, phase corev1.PodPhase) bool {
	label, err := labels.Parse(r.Query.Get("labelSelector"))
	if err == nil && !label.Matches(labels.Set{"app": app}) {
		return false
	}
	field, err := fields.ParseSelector(r.Query.Get("fieldSelector"))
	return err != nil || field.Matches(fields.Set{"status.phase": string(phase)})
}

// expectOneApp asks for an app that can't be a label's value.
func expectOneApp(b *testbed.Bed) {
	var calls told
	c := begin(b, "WatchReady", selectingPart, func(ctx context.Context) error {
		return informers.WatchReady(ctx, b.Clientset(), b.Namespace(), "web,app!=db",
			func(name string) { calls.add(name) }, func(string) {})
	})
	defer c.stop(nil)
	f := testbed.Fail{
		Expected: `an error for the app "web,app!=db", which can't be a label's value, and no Pod that is told of`,
		See:      selectingPart,
	}
	b.Eventually(patient, f, func(context.Context) (bool, string) { return c.returned(), "it has not returned" })
	if c.err == nil || len(calls.all()) > 0 {
		f.Seen = fmt.Sprintf("the error %v, and ready called for %s", c.err, orNothing(calls.all()))
		b.Fail(f)
	}
}
