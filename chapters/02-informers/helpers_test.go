package informers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/controllings/controllings/testbed"
	_ "github.com/controllings/controllings/testbed/mutationdetector" // all checks run with it
	"github.com/controllings/controllings/testbed/proxy"
)

const (
	syncedPart     = "README.md#synced"
	readsPart      = "README.md#reads"
	selectingPart  = "README.md#selecting"
	deletionsPart  = "README.md#deletions"
	handlersPart   = "README.md#handlers"
	sharedPart     = "README.md#shared-objects"
	indexesPart    = "README.md#indexes"
	transformsPart = "README.md#transforms"
	resyncPart     = "README.md#resync"

	// How long a check waits for what must come, and for what must not come yet.
	patient = 10 * time.Second
	moment  = 300 * time.Millisecond
)

var (
	podReads   = proxy.Match{Verb: proxy.Read, Resource: "pods"}
	podWatches = proxy.Match{Verb: "watch", Resource: "pods"}
	mapReads   = proxy.Match{Verb: proxy.Read, Resource: "configmaps"}
	mapWatches = proxy.Match{Verb: "watch", Resource: "configmaps"}
)

// newPod is a Pod that nobody but the check ever touches: it waits for a scheduler
// that isn't there. (Bound to a node that isn't there it would be collected as an
// orphan some time after the first such Pod on the cluster.)
func newPod(name, app string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			SchedulerName: "nobody",
			Containers:    []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
		},
	}
	if app != "" {
		pod.Labels = map[string]string{"app": app}
	}
	return pod
}

// createPod makes a Pod in the given phase, ready or not.
func createPod(b *testbed.Bed, name, app string, phase corev1.PodPhase, ready bool) {
	b.Create(newPod(name, app))
	setStatus(b, name, phase, ready)
}

// createBoundPod makes a Pod that is Running and ready, on a node that isn't there:
// to delete it takes half a minute, since nobody stops its containers.
func createBoundPod(b *testbed.Bed, name, app string) {
	pod := newPod(name, app)
	pod.Spec.NodeName = "node-of-" + b.Namespace()
	b.Create(pod)
	setStatus(b, name, corev1.PodRunning, true)
}

func setStatus(b *testbed.Bed, name string, phase corev1.PodPhase, ready bool) {
	pods := b.Admin().CoreV1().Pods(b.Namespace())
	pod, err := pods.Get(b.Context(), name, metav1.GetOptions{})
	b.Must(err, "read a Pod")
	condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}
	if ready {
		condition.Status = corev1.ConditionTrue
	}
	pod.Status.Phase = phase
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, condition}
	_, err = pods.UpdateStatus(b.Context(), pod, metav1.UpdateOptions{})
	b.Must(err, "give a Pod its status")
}

// changePod changes a Pod as somebody else.
func changePod(b *testbed.Bed, name string, change func(*corev1.Pod)) {
	pods := b.Foreign().CoreV1().Pods(b.Namespace())
	pod, err := pods.Get(b.Context(), name, metav1.GetOptions{})
	b.Must(err, "read a Pod")
	change(pod)
	_, err = pods.Update(b.Context(), pod, metav1.UpdateOptions{})
	b.Must(err, "change a Pod")
}

func deletePod(b *testbed.Bed, name string) {
	err := b.Foreign().CoreV1().Pods(b.Namespace()).Delete(b.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	b.Must(err, "delete a Pod")
}

// deletePodSlowly begins to delete a Pod, whose node has half a minute to stop it.
func deletePodSlowly(b *testbed.Bed, name string) {
	err := b.Foreign().CoreV1().Pods(b.Namespace()).Delete(b.Context(), name, metav1.DeleteOptions{})
	b.Must(err, "begin to delete a Pod")
}

// unseen makes changes of which no watch tells: the events are held back until the
// API server has sent them, and are lost when the watch ends with a 410. Who wants
// to know has to list anew.
func unseen(b *testbed.Bed, watches proxy.Match, events int, change func()) {
	held := b.Faults().Add(proxy.Rule{Match: watches, Hold: true, Times: 1})
	change()
	untilHeld(b, held, events)
	expired := b.Faults().Add(proxy.Rule{Match: watches, Expire: true, Times: 1})
	b.Eventually(patient, testbed.Fail{
		Expected: "a watch that goes on, and so can expire",
		See:      "README.md#a-copy-that-follows",
	}, func(context.Context) (bool, string) {
		return expired.Hits() == 1, fmt.Sprintf("%d open watches met the 410", expired.Hits())
	})
	held.Remove()
}

// untilHeld waits until so many events of an open watch are held back.
func untilHeld(b *testbed.Bed, held *proxy.Handle, events int) {
	b.Eventually(patient, testbed.Fail{
		Expected: fmt.Sprintf("an open watch, to which the API server sends %d events", events),
		See:      "README.md#a-copy-that-follows",
	}, func(context.Context) (bool, string) {
		return held.Held() >= events, fmt.Sprintf("%d events were sent", held.Held())
	})
}

// call is a function of the learner's that was called on a goroutine of its own.
type call struct {
	name, see string
	mark      proxy.Mark
	stop      context.CancelCauseFunc
	done      chan struct{}
	err       error // to be read when done is closed
}

// begin calls a function with a context that stop ends.
func begin(b *testbed.Bed, name, see string, function func(context.Context) error) *call {
	ctx, stop := context.WithCancelCause(b.Context())
	c := &call{name: name, see: see, mark: b.Traffic().Mark(), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.err = function(ctx)
	}()
	return c
}

func (c *call) returned() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// expectReturn waits until the function has returned without an error.
func (c *call) expectReturn(b *testbed.Bed, when string) {
	b.Eventually(patient, testbed.Fail{Expected: c.name + " to return " + when, See: c.see}, func(context.Context) (bool, string) {
		return c.returned(), "it has not returned"
	})
	b.NoError(c.err, testbed.Fail{Expected: c.name + " to return without an error " + when, See: c.see})
}

// expectWaiting looks for a moment whether the function returns too early.
func (c *call) expectWaiting(b *testbed.Bed, expected string) {
	b.Stays(moment, testbed.Fail{Expected: expected, See: c.see}, func(context.Context) (bool, string) {
		if c.returned() {
			return false, fmt.Sprintf("it has returned, with the error %v", c.err)
		}
		return true, ""
	})
}

// expectOneWatch looks at what was sent since the call: one watch, in the namespace
// of the bed, of what matches. A list beside it is how reflectors begin that can't
// stream.
func (c *call) expectOneWatch(b *testbed.Bed, reads proxy.Match) {
	watches := reads
	watches.Verb = "watch"
	if n := b.Traffic().Since(c.mark).Count(watches); n != 1 {
		b.Fail(testbed.Fail{
			Expected: c.name + " to need one watch: informers are there to be shared",
			Seen:     fmt.Sprintf("%d watches", n),
			See:      "README.md#a-copy-that-follows",
		})
	}
	c.expectOnlyReads(b, reads)
}

// expectOnlyReads looks for requests since the call that no informer sends.
func (c *call) expectOnlyReads(b *testbed.Bed, reads proxy.Match) {
	b.NoRequestsSince(c.mark, testbed.Absence{
		Where:    func(r proxy.Request) bool { return r.Verb == "get" || !reads.Matches(r) },
		Presence: testbed.Presence{Match: proxy.Match{Verb: "watch", Resource: reads.Resource}},
	}, testbed.Fail{
		Expected: fmt.Sprintf("%s to ask for %s as an informer does, and for nothing else", c.name, reads.Resource),
		Seen:     "other requests",
		See:      c.see,
	})
	lists, watches := reads, reads
	lists.Verb, watches.Verb = "list", "watch"
	window := b.Traffic().Since(c.mark)
	if n, open := window.Count(lists), window.Count(watches); n > open {
		b.Fail(testbed.Fail{
			Expected: c.name + " to list no more often than it opens a watch, which tells all that comes after",
			Seen:     fmt.Sprintf("%d lists and %d watches", n, open),
			See:      c.see,
		})
	}
}

// expectEnd ends the context of a function that has returned: what it has started
// has to end too.
func (c *call) expectEnd(b *testbed.Bed) {
	c.stop(errors.New("the check is done"))
	b.Eventually(patient, testbed.Fail{
		Expected: "the watch of " + c.name + " to be closed when its context has ended",
		See:      c.see,
	}, func(context.Context) (bool, string) {
		for _, r := range b.Traffic().Since(c.mark).Requests(proxy.Match{Verb: "watch"}) {
			if !r.Done {
				return false, "a watch that is still open"
			}
		}
		return true, ""
	})
}

// expectSync calls a function while nothing of what it asks for arrives. It has to
// wait, in its own namespace, and to give up when its context ends, with the cause of
// that.
func expectSync(b *testbed.Bed, name, see string, reads proxy.Match, function func(context.Context) error) {
	held := b.Faults().Add(proxy.Rule{Match: reads, Hold: true})
	defer held.Remove()
	c := begin(b, name, see, function)
	b.Eventually(patient, testbed.Fail{
		Expected: fmt.Sprintf("%s to watch the %s of namespace %s", name, reads.Resource, b.Namespace()),
		See:      "README.md#a-copy-that-follows",
	}, func(context.Context) (bool, string) {
		if b.Traffic().Since(c.mark).Count(reads) > 0 {
			return true, ""
		}
		if c.returned() {
			return false, fmt.Sprintf("it has returned, with the error %v, and sent no request for %s", c.err, reads.Resource)
		}
		return false, "no request for " + reads.Resource
	})
	for _, r := range b.Traffic().Since(c.mark).Requests(reads) {
		if r.Namespace != b.Namespace() {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("%s to ask for namespace %s, where it has the right to: a copy of what is Forbidden is never whole", name, b.Namespace()),
				Seen:     r.URI(),
				See:      "README.md#a-copy-that-follows",
			})
		}
	}
	c.expectWaiting(b, fmt.Sprintf("%s to wait for its copy of the %s: nothing of it has arrived", name, reads.Resource))

	enough := errors.New("the program was told to stop")
	c.stop(enough)
	b.Eventually(patient, testbed.Fail{
		Expected: name + " to give up when its context ends, and the copy is not whole",
		See:      see,
	}, func(context.Context) (bool, string) { return c.returned(), "it goes on waiting" })
	if !errors.Is(c.err, enough) {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("an error of %s that says why its context ended before the copy was whole (context.Cause): %q", name, enough),
			Seen:     fmt.Sprintf("the error %v", c.err),
			See:      see,
		})
	}
}

// told are calls that the learner's code made, in their order.
type told struct {
	mu      sync.Mutex
	list    []string
	open    int
	overlap bool
	gate    chan struct{} // while not nil, calls wait until it is closed

	expected int // how many have been expected so far
}

// add is the call. It waits while the gate is shut.
func (t *told) add(what string) {
	t.mu.Lock()
	t.list = append(t.list, what)
	t.open++
	t.overlap = t.overlap || t.open > 1
	gate := t.gate
	t.mu.Unlock()
	if gate != nil {
		<-gate
	}
	t.mu.Lock()
	t.open--
	t.mu.Unlock()
}

// shut lets all calls from now on wait until the result is called.
func (t *told) shut() (open func()) {
	gate := make(chan struct{})
	t.mu.Lock()
	t.gate = gate
	t.mu.Unlock()
	return sync.OnceFunc(func() {
		t.mu.Lock()
		t.gate = nil
		t.mu.Unlock()
		close(gate)
	})
}

func (t *told) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

func (t *told) overlapped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.overlap
}

// expect waits for the next calls, and wants just these, in this order. What came
// beyond the calls that were expected before counts.
func (t *told) expect(b *testbed.Bed, when, see string, want ...string) {
	f := testbed.Fail{Expected: fmt.Sprintf("%s %s", orNothing(want), when), See: see}
	next := func() []string { return t.all()[t.expected:] }
	b.Eventually(patient, f, func(context.Context) (bool, string) {
		got := next()
		return len(got) >= len(want), orNothing(got)
	})
	if got := next(); !slices.Equal(got, want) {
		f.Seen = orNothing(got)
		b.Fail(f)
	}
	t.expected += len(want)
}

func orNothing(list []string) string {
	switch n := len(list); {
	case n == 0:
		return "nothing"
	case n > 12:
		return fmt.Sprintf("%s … (%d)", strings.Join(list[:12], ", "), n)
	}
	return strings.Join(list, ", ")
}
