package informers_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	informers "github.com/controllings/controllings/chapters/02-informers"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

const reads = 500

func TestReaderAsksItsCopy(t *testing.T) {
	b := testbed.New(t)
	var all []testbed.Object
	var web []string
	for i := range 15 {
		web = append(web, fmt.Sprintf("web-%02d", i))
		all = append(all, newPod(web[i], "web"))
	}
	b.Create(append(all, newPod("db-0", "db"), newPod("lone", ""))...)
	setStatus(b, "web-00", corev1.PodRunning, true)

	newReader := func(ctx context.Context) (err error) {
		_, err = informers.NewReader(ctx, b.Clientset(), b.Namespace())
		return err
	}
	expectSync(b, "NewReader", readsPart, podReads, newReader)

	var reader *informers.Reader
	c := begin(b, "NewReader", readsPart, func(ctx context.Context) (err error) {
		reader, err = informers.NewReader(ctx, b.Clientset(), b.Namespace())
		return err
	})
	c.expectReturn(b, "when its copy is whole")
	ready := time.Now()
	phases := map[string]corev1.PodPhase{"web-00": corev1.PodRunning, "web-01": corev1.PodPending, "db-0": corev1.PodPending}
	expectAnswers(b, reader, "in 500 reads by ten goroutines", web, phases)
	expectNoRead(b, c.mark, ready, fmt.Sprintf("no request for %d reads", reads))
	c.expectOneWatch(b, podReads) // here already: what asks by a new informer would wait below

	// While the events are held the copy is behind, and still what is asked.
	held := b.Faults().Add(proxy.Rule{Match: podWatches, Hold: true})
	setStatus(b, "web-00", corev1.PodFailed, false)
	deletePod(b, "web-01")
	b.Create(newPod("web-99", "web"))
	untilHeld(b, held, 3)
	expectAnswers(b, reader, "while the events of three changes are held back", web, phases)
	expectNoRead(b, c.mark, ready, "no request while the copy is behind")
	held.Remove()
	web = append(slices.DeleteFunc(web, func(name string) bool { return name == "web-01" }), "web-99")
	b.Eventually(patient, testbed.Fail{
		Expected: "the reader to follow the API server: web-00 Failed, and the Pods of app web to be " + orNothing(web),
		See:      readsPart,
	}, func(context.Context) (bool, string) {
		got, err := reader.OfApp("web")
		phase, _ := reader.Phase("web-00")
		return slices.Equal(got, web) && phase == corev1.PodFailed,
			fmt.Sprintf("web-00 %s, and %s (error %v)", phase, orNothing(got), err)
	})

	expectNoSuch(b, reader)
	expectNoRead(b, c.mark, ready, "no request for what isn't in the copy")
	c.expectOneWatch(b, podReads)
	c.expectEnd(b)
}

// expectAnswers asks 500 times, from several goroutines at once.
func expectAnswers(b *testbed.Bed, reader *informers.Reader, when string, web []string, phases map[string]corev1.PodPhase) {
	const readers = 10
	wrong := make(chan string, reads)
	var group sync.WaitGroup
	for range readers {
		group.Go(func() {
			for range reads / readers / (len(phases) + 2) {
				for name, want := range phases {
					if got, err := reader.Phase(name); got != want || err != nil {
						wrong <- fmt.Sprintf("phase %q of %s, and the error %v", got, name, err)
					}
				}
				if got, err := reader.OfApp("web"); !slices.Equal(got, web) || err != nil {
					wrong <- fmt.Sprintf("%s of app web, and the error %v", orNothing(got), err)
				}
				if _, err := reader.Phase("web-99"); !apierrors.IsNotFound(err) {
					wrong <- fmt.Sprintf("the error %v for web-99, which is not in the copy", err)
				}
			}
		})
	}
	group.Wait()
	select {
	case seen := <-wrong:
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("what the copy has %s: web-00 Running, web-01 and db-0 Pending, no web-99 (a NotFound), and of app web, sorted, %s", when, orNothing(web)),
			Seen:     seen,
			See:      readsPart,
		})
	default:
	}
}

// expectNoSuch asks for what no Pod is or has.
func expectNoSuch(b *testbed.Bed, reader *informers.Reader) {
	if phase, err := reader.Phase("nosuch"); !apierrors.IsNotFound(err) || phase != "" {
		b.Fail(testbed.Fail{
			Expected: "a NotFound (apierrors.IsNotFound) for the Pod nosuch, which isn't there",
			Seen:     fmt.Sprintf("phase %q, and the error %v", phase, err),
			See:      readsPart,
		})
	}
	for _, app := range []string{"nosuch", "", "web,env!=test", "web,app", "web)", "we"} {
		got, err := reader.OfApp(app)
		if len(got) > 0 || err != nil && (app == "nosuch" || app == "we") {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("no names for the app %q: no Pod carries a label with that value", app),
				Seen:     fmt.Sprintf("%s, and the error %v", orNothing(got), err),
				See:      readsPart,
			})
		}
	}
}

// expectNoRead looks for requests since a Reader was ready. Its watch is none of
// them.
func expectNoRead(b *testbed.Bed, mark proxy.Mark, ready time.Time, expected string) {
	b.NoRequestsSince(mark, testbed.Absence{
		Where: func(r proxy.Request) bool { return r.Start.After(ready) && r.Verb != "watch" },
		Presence: testbed.Presence{Match: podWatches, Otherwise: testbed.Fail{
			Expected: "a watch that keeps the Reader's copy up to date",
			Seen:     "no watch of Pods",
			See:      readsPart,
		}},
	}, testbed.Fail{Expected: expected + ": the copy has the answer", Seen: "reads that went to the API server", See: readsPart})
}
