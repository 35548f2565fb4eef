package sharing_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

const (
	stopPart = "README.md#stop"
	syncPart = "README.md#start"

	patient = 5 * time.Second
	// glance is how long nothing must happen where a mistake shows at once.
	glance = 300 * time.Millisecond
)

func TestRunStartsAndStops(t *testing.T) {
	b := testbed.New(t)
	waitsForTheCaches(b)
	worksAndRepairs(b)
	finishesWhatItHas(b)
	endsWhatTakesTooLong(b)
	endsBeforeItBegan(b)
}

// controller is a Run that a check has started.
type controller struct {
	*testbed.Bed
	source, target string
	stop           context.CancelFunc
	ended          chan error

	mu      sync.Mutex
	reports map[string][]error // by name
}

// place makes a source and a target namespace, in which n copies are missing,
// called copy-0 and so on.
func place(b *testbed.Bed, n int) *controller {
	c := &controller{Bed: b, ended: make(chan error, 1), reports: map[string][]error{}}
	var sources, requests []testbed.Object
	for i := range n {
		name := fmt.Sprintf("copy-%d", i)
		sources = append(sources, shared("", name, map[string]string{"colour": "blue"}))
		requests = append(requests, request("", "asks-for-"+name, name))
	}
	made := make(chan string, 1)
	go func() { made <- b.NewNamespace() }()
	c.source = b.NewNamespace()
	c.target = <-made
	b.CreateIn(c.source, sources...)
	b.CreateIn(c.target, requests...)
	return c
}

// run starts Run.
func (c *controller) run(change func(*sharing.Options)) {
	o := sharing.Options{
		Source:  c.source,
		Targets: []string{c.target},
		Workers: 2,
		Base:    5 * time.Millisecond,
		Longest: 200 * time.Millisecond,
		Grace:   time.Minute,
		Report: func(k sharing.Key, err error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.reports[k.Name] = append(c.reports[k.Name], err)
		},
	}
	if change != nil {
		change(&o)
	}
	ctx, stop := context.WithCancel(c.Context())
	c.stop = stop
	client := c.Clientset()
	go func() { c.ended <- sharing.Run(ctx, client, o) }()
}

// waitsForTheCaches lets the source's cache fill late. Until then each copy looks
// as if its source were gone.
func waitsForTheCaches(b *testbed.Bed) {
	c := place(b, 2)
	b.CreateIn(c.target, sharing.NewCopy(shared(c.source, "copy-0", map[string]string{"colour": "blue"}), c.target))
	held := b.Faults().Add(proxy.Rule{Match: proxy.Match{Verb: proxy.Read, Namespace: c.source}, Hold: true})
	defer held.Remove()
	mark := b.Traffic().Mark()
	c.run(nil)

	b.Eventually(patient, testbed.Fail{Expected: "Run to fill the caches of the source and of the target: a watch of each", See: syncPart},
		func(context.Context) (bool, string) {
			of := func(namespace string) int {
				return b.Traffic().Since(mark).Count(proxy.Match{Verb: proxy.Read, Resource: "configmaps", Namespace: namespace})
			}
			return of(c.source) > 0 && of(c.target) > 0,
				fmt.Sprintf("%d requests in the source, %d in the target", of(c.source), of(c.target))
		})
	b.Stays(glance, testbed.Fail{
		Expected: "no write while the cache of the source isn't full: what isn't in it yet is not gone",
		See:      syncPart,
	}, func(context.Context) (bool, string) {
		writes := b.Traffic().Since(mark).Requests(proxy.Match{Verb: proxy.Write, Namespace: c.target})
		return len(writes) == 0, show(writes)
	})
	held.Remove()
	c.hasCopies(2, "when the caches are full", syncPart)
	if n := b.Traffic().Since(mark).Count(proxy.Match{Verb: "delete", Namespace: c.target}); n > 0 {
		b.Fail(testbed.Fail{
			Expected: "no copy deleted whose source is there",
			Seen:     plural(n, "DELETE"),
			See:      syncPart,
		})
	}
	c.endsWell()
}

// worksAndRepairs is the whole controller: with an API server that refuses writes
// for a while, a copy that somebody deletes, and a source that goes.
func worksAndRepairs(b *testbed.Bed) {
	c := place(b, 2)
	outage := b.Faults().Add(proxy.Rule{Match: proxy.Match{Verb: "create", Namespace: c.target}, Status: 500})
	defer outage.Remove()
	c.run(nil)
	b.Eventually(patient, testbed.Fail{Expected: "two copies tried again and again, while the API server answers each create with 500", See: retriesPart},
		func(context.Context) (bool, string) { return outage.Hits() >= 14, plural(outage.Hits(), "try") })
	outage.Remove()
	c.hasCopies(2, "after an outage, without anybody touching an object", retriesPart)
	c.mu.Lock()
	errs := append(c.reports["copy-0"], c.reports["copy-1"]...)
	c.mu.Unlock()
	if len(errs) < 14 || !apierrors.IsInternalError(errs[0]) {
		b.Fail(testbed.Fail{
			Expected: "Options.Report told of each failure, 14 or more of them",
			Seen:     plural(len(errs), "report"),
			See:      protocolPart,
		})
	}

	others := b.Foreign().CoreV1().ConfigMaps(c.target)
	b.Must(others.Delete(b.Context(), "copy-0", metav1.DeleteOptions{}), "delete a copy as somebody else")
	c.hasCopies(2, "after somebody deleted one", levelPart)
	b.Must(b.Foreign().CoreV1().ConfigMaps(c.source).Delete(b.Context(), "copy-1", metav1.DeleteOptions{}), "delete a source")
	c.hasCopies(1, "after the other's source was deleted", levelPart)
	c.endsWell()
}

// finishesWhatItHas stops Run with two requests under way and four keys queued.
func finishesWhatItHas(b *testbed.Bed) {
	c := place(b, 6)
	creates := proxy.Match{Verb: "create", Namespace: c.target}
	held := b.Faults().Add(proxy.Rule{Match: creates, Hold: true})
	defer held.Remove()
	c.run(nil)
	b.Eventually(patient, testbed.Fail{Expected: "two workers at work: two creates on their way to the API server", See: stopPart},
		func(context.Context) (bool, string) { return held.Hits() >= 2, plural(held.Hits(), "create") })

	c.stop()
	b.Stays(glance, testbed.Fail{
		Expected: "Run to wait, after its context has ended, for the two requests under way, and to cut off none of them",
		See:      stopPart,
	}, func(context.Context) (bool, string) {
		requests := b.Traffic().Requests(creates)
		for _, r := range requests {
			if r.Done {
				return false, "a request was cut off: " + r.String()
			}
		}
		select {
		case err := <-c.ended:
			return false, fmt.Sprintf("Run returned (%v), with %s under way", err, plural(len(requests), "request"))
		default:
			return len(requests) == 2, plural(len(requests), "request") + " for 2 workers"
		}
	})
	held.Remove()
	err := c.end("Run to return when what was in work and in the queue is finished")
	b.NoError(err, testbed.Fail{Expected: "nil from Run, which had time enough to finish its work", See: stopPart})
	if got := c.copies(); len(got) != 6 {
		b.Fail(testbed.Fail{
			Expected: "2 copies in work and 4 in the queue when the context ended: all 6 made when Run returns",
			Seen:     plural(len(got), "copy") + ": " + strings.Join(got, ", "),
			See:      stopPart,
		})
	}
	c.isGone()
}

// endsWhatTakesTooLong stops Run with requests that never end, and with a worker
// that takes its time even then.
func endsWhatTakesTooLong(b *testbed.Bed) {
	c := place(b, 2)
	held := b.Faults().Add(proxy.Rule{Match: proxy.Match{Verb: "create", Namespace: c.target}, Hold: true})
	defer held.Remove()
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	letGo := sync.OnceFunc(func() { close(leave) })
	defer letGo()
	c.run(func(o *sharing.Options) {
		o.Grace = glance
		o.Report = func(sharing.Key, error) {
			entered <- struct{}{}
			<-leave
		}
	})
	b.Eventually(patient, testbed.Fail{Expected: "two creates on their way to the API server", See: stopPart},
		func(context.Context) (bool, string) { return held.Hits() >= 2, plural(held.Hits(), "create") })

	stopped := time.Now()
	c.stop()
	b.Eventually(patient, testbed.Fail{
		Expected: fmt.Sprintf("Run to end what isn't finished when its grace of %s is over", glance),
		See:      stopPart,
	}, func(context.Context) (bool, string) {
		return len(entered) > 0, "requests that go on"
	})
	if took := time.Since(stopped); took < glance {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("work that isn't finished to be given all of its %s", glance),
			Seen:     fmt.Sprintf("its requests ended after %s", took.Round(time.Millisecond)),
			See:      stopPart,
		})
	}
	b.Stays(glance, testbed.Fail{
		Expected: "Run to wait for a worker whose request it has ended: it is still in Options.Report",
		See:      stopPart,
	}, func(context.Context) (bool, string) {
		return len(c.ended) == 0, "Run has returned, with that worker at work"
	})
	letGo()
	if err := c.end("Run to return when its workers have ended"); err == nil {
		b.Fail(testbed.Fail{
			Expected: "an error from Run that says that work was left when its grace was over",
			Seen:     "nil, with two copies not made",
			See:      stopPart,
		})
	}
	c.isGone()
}

// endsBeforeItBegan stops Run before its caches are full.
func endsBeforeItBegan(b *testbed.Bed) {
	c := place(b, 1)
	held := b.Faults().Add(proxy.Rule{Match: proxy.Match{Verb: proxy.Read, Namespace: c.source}, Hold: true})
	defer held.Remove()
	c.run(nil)
	b.Eventually(patient, testbed.Fail{Expected: "Run to begin to fill its caches", See: syncPart},
		func(context.Context) (bool, string) { return held.Hits() > 0, plural(held.Hits(), "watch") })
	c.stop()
	if err := c.end("Run to return when its context ends before the caches are full"); err == nil {
		b.Fail(testbed.Fail{
			Expected: "an error from Run when its context ends before the caches are full",
			Seen:     "nil",
			See:      syncPart,
		})
	}
	c.isGone()
}

// hasCopies waits until so many copies are there.
func (c *controller) hasCopies(n int, when, see string) {
	c.Eventually(patient, testbed.Fail{Expected: fmt.Sprintf("%s %s", copies(n), when), See: see},
		func(context.Context) (bool, string) {
			got := c.copies()
			return len(got) == n, copies(len(got)) + ": " + strings.Join(got, ", ")
		})
}

func copies(n int) string {
	if n == 1 {
		return "1 copy"
	}
	return fmt.Sprintf("%d copies", n)
}

// copies are the names of those that are there.
func (c *controller) copies() []string {
	list, err := c.Admin().CoreV1().ConfigMaps(c.target).List(c.Context(), metav1.ListOptions{LabelSelector: sharing.LabelCopyOf})
	c.Must(err, "list the copies")
	var names []string
	for _, cm := range list.Items {
		names = append(names, cm.Name)
	}
	return names
}

// end waits until Run returns, and returns its error.
func (c *controller) end(expected string) error {
	var err error
	c.Eventually(patient, testbed.Fail{Expected: expected, See: stopPart}, func(context.Context) (bool, string) {
		select {
		case err = <-c.ended:
			return true, ""
		default:
			return false, "Run has not returned since its context ended"
		}
	})
	return err
}

// endsWell stops a Run that has nothing left to do.
func (c *controller) endsWell() {
	c.stop()
	err := c.end("Run to return when its context has ended and there is nothing left to do")
	c.NoError(err, testbed.Fail{Expected: "nil from Run, which had nothing left to do", See: stopPart})
	c.isGone()
}

// isGone looks for what is left of a Run that has returned.
func (c *controller) isGone() {
	c.Eventually(patient/2, testbed.Fail{
		Expected: "nothing left of Run when it has returned: no worker, no informer, no queue",
		See:      stopPart,
	}, func(context.Context) (bool, string) {
		for _, r := range c.Traffic().Requests(proxy.Match{Resource: "configmaps"}) {
			if !r.Done && (r.Namespace == c.source || r.Namespace == c.target) {
				return false, "a request that is still open: " + r.String()
			}
		}
		left := controllersGoroutines()
		return len(left) == 0, strings.Join(left, "\n")
	})
}
