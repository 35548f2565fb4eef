package clientset_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

const (
	limitsPart = "README.md#time-limits"

	// What the code is given here, and how long the check waits for it to end.
	short   = 300 * time.Millisecond
	long    = time.Hour
	patient = 5 * time.Second
)

var (
	configMapReads  = proxy.Match{Verb: "get", Resource: "configmaps"}
	configMapWrites = proxy.Match{Verb: "create", Resource: "configmaps"}
)

func TestNothingWaitsForEver(t *testing.T) {
	b := testbed.New(t)
	b.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "app"}, Data: map[string]string{"colour": "blue"}})

	readAnswers(b)
	readHangs(b)
	readIsGivenUp(b)
	readWaitsInTheQueue(b)
	readLeavesNothing(b)

	writeOutlivesTheHandler(b)
	writeHangs(b)
}

// readAnswers reads from an API server that answers.
func readAnswers(b *testbed.Bed) {
	client := b.Clientset()
	settings, err := clientset.ReadWithin(b.Context(), client, b.Namespace(), "app", long)
	b.NoError(err, testbed.Fail{Expected: "ReadWithin to return the ConfigMap app", See: limitsPart})
	if settings == nil || settings.Data["colour"] != "blue" {
		b.Fail(testbed.Fail{Expected: "ReadWithin to return the ConfigMap app", Seen: fmt.Sprintf("%+v", settings), See: limitsPart})
	}

	_, err = clientset.ReadWithin(b.Context(), client, b.Namespace(), "nosuch", long)
	if !apierrors.IsNotFound(err) || errors.Is(err, context.DeadlineExceeded) {
		b.Fail(testbed.Fail{
			Expected: "the API server's own error, NotFound, where it answers in time",
			Seen:     fmt.Sprintf("error: %v", err),
			See:      limitsPart,
		})
	}
}

// readHangs reads from an API server that never answers.
func readHangs(b *testbed.Bed) {
	hanging := hang(b, configMapReads)
	defer hanging.Remove()
	mark, begin := b.Traffic().Mark(), time.Now()
	limit := testbed.Scale(short)
	err := read(b.Context(), b, b.Clientset(), limit, testbed.Fail{
		Expected: fmt.Sprintf("ReadWithin to return when its limit of %s is over, although the API server doesn't answer", limit),
		See:      limitsPart,
	})
	if took := time.Since(begin); took < limit {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("ReadWithin to use the %s that it has", limit),
			Seen:     fmt.Sprintf("it gave up after %s: %v", took.Round(time.Millisecond), err),
			See:      limitsPart,
		})
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		b.Fail(testbed.Fail{
			Expected: "an error in which errors.Is finds context.DeadlineExceeded: the time was up",
			Seen:     fmt.Sprintf("error: %v", err),
			See:      limitsPart,
		})
	}
	expectEnded(b, "the read", mark, configMapReads)
}

// readIsGivenUp has a caller that wants no answer any more, long before the limit.
func readIsGivenUp(b *testbed.Bed) {
	hanging := hang(b, configMapReads)
	defer hanging.Remove()
	ctx, giveUp := context.WithCancel(b.Context())
	defer giveUp()
	mark := b.Traffic().Mark()
	go func() {
		select {
		case <-hanging.arrived:
			giveUp()
		case <-ctx.Done():
		}
	}()
	err := read(ctx, b, b.Clientset(), long, testbed.Fail{
		Expected: "ReadWithin to return as soon as its caller gives up: the context that it was given has ended",
		See:      limitsPart,
	})
	if !errors.Is(err, context.Canceled) {
		b.Fail(testbed.Fail{
			Expected: "an error in which errors.Is finds context.Canceled: the caller gave up, and the limit was not over",
			Seen:     fmt.Sprintf("error: %v", err),
			See:      limitsPart,
		})
	}
	expectEnded(b, "the read that was given up", mark, configMapReads)
}

// readWaitsInTheQueue reads with a client whose budget is used up for hours.
func readWaitsInTheQueue(b *testbed.Bed) {
	config := b.Config()
	config.QPS, config.Burst = 0.0001, 1
	client, err := kubernetes.NewForConfig(config)
	b.Must(err, "make a client")
	if !client.CoreV1().RESTClient().GetRateLimiter().TryAccept() {
		b.Must(errors.New("the first request has to wait"), "use up a client's budget")
	}
	limit := testbed.Scale(short)
	err = read(b.Context(), b, client, limit, testbed.Fail{
		Expected: fmt.Sprintf("the limit of %s to hold in the client's own queue too, where a request waits for its budget", limit),
		See:      limitsPart,
	})
	if err == nil {
		b.Fail(testbed.Fail{
			Expected: "an error where the client's budget lets no request through in time",
			Seen:     "no error",
			See:      limitsPart,
		})
	}
}

// readLeavesNothing looks at what goes on after an answer that came long before
// the limit.
func readLeavesNothing(b *testbed.Bed) {
	var contexts seenContexts
	_, err := clientset.ReadWithin(b.Context(), contexts.client(b), b.Namespace(), "app", long)
	b.NoError(err, testbed.Fail{Expected: "ReadWithin to return the ConfigMap app", See: limitsPart})
	for _, ctx := range contexts.list(b) {
		if ctx.Err() == nil {
			b.Fail(testbed.Fail{
				Expected: "nothing to be left of ReadWithin when it has returned: its context ended, its timer stopped",
				Seen:     fmt.Sprintf("the context of the request lives on, for the rest of the limit of %s", long),
				See:      limitsPart,
			})
		}
	}
}

// read calls ReadWithin, and fails with f if it doesn't return.
func read(ctx context.Context, b *testbed.Bed, client kubernetes.Interface, limit time.Duration, f testbed.Fail) error {
	returned := make(chan error, 1)
	go func() {
		_, err := clientset.ReadWithin(ctx, client, b.Namespace(), "app", limit)
		returned <- err
	}()
	return receive(b, returned, "it has not returned", f)
}

// writeOutlivesTheHandler lets the API server answer after the handler has returned.
func writeOutlivesTheHandler(b *testbed.Bed) {
	var contexts seenContexts
	client := contexts.client(b)
	handler := serve(b)
	held := hang(b, configMapWrites)
	defer held.Remove()
	done := writeBehind(b, handler, client, "audit-1", long)
	receive(b, held.arrived, "no request to create the ConfigMap came", testbed.Fail{
		Expected: "WriteBehind to send a create, without waiting for anything",
		See:      limitsPart,
	})
	handler.finish(b)
	held.Remove()

	err := receive(b, done, "done was not called", testbed.Fail{
		Expected: "done to be called when the write is done",
		See:      limitsPart,
	})
	b.NoError(err, testbed.Fail{
		Expected: "the write to go on although the handler has returned, which ends the context of its request",
		See:      limitsPart,
	})
	_, err = b.Admin().CoreV1().ConfigMaps(b.Namespace()).Get(b.Context(), "audit-1", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		b.Fail(testbed.Fail{Expected: "the ConfigMap audit-1 on the API server, since done said nil", Seen: "it is not there", See: limitsPart})
	}
	b.Must(err, "read the ConfigMap")
	for _, ctx := range contexts.list(b) {
		if id := ctx.Value(requestID{}); id != handler.id {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("the values of the handler's context to stay with the write, such as the request's id %q", handler.id),
				Seen:     fmt.Sprintf("the id %v in the context of the write", id),
				See:      limitsPart,
			})
		}
	}
	expectOnce(b, done)
}

// writeHangs writes to an API server that never answers.
func writeHangs(b *testbed.Bed) {
	handler := serve(b)
	hanging := hang(b, configMapWrites)
	defer hanging.Remove()
	mark, begin := b.Traffic().Mark(), time.Now()
	limit := testbed.Scale(short)
	done := writeBehind(b, handler, b.Clientset(), "audit-2", limit)
	handler.finish(b)
	err := receive(b, done, "done was not called", testbed.Fail{
		Expected: fmt.Sprintf("the write to have a limit of its own, %s, now that nobody waits for it", limit),
		See:      limitsPart,
	})
	if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took < limit {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("done to be called after %s with an error in which errors.Is finds context.DeadlineExceeded", limit),
			Seen:     fmt.Sprintf("after %s, error: %v", took.Round(time.Millisecond), err),
			See:      limitsPart,
		})
	}
	expectEnded(b, "the write", mark, configMapWrites)
	expectOnce(b, done)
}

// writeBehind calls WriteBehind as the handler would, and returns what is told to
// done.
func writeBehind(b *testbed.Bed, handler *handler, client kubernetes.Interface, name string, limit time.Duration) <-chan error {
	ctx := context.WithValue(handler.context(b), requestID{}, handler.id)
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace(), Name: name}}
	done, returned := make(chan error, 10), make(chan error, 1)
	go func() {
		clientset.WriteBehind(ctx, client, settings, limit, func(err error) { done <- err })
		returned <- nil
	}()
	_ = receive(b, returned, "it has not returned", testbed.Fail{
		Expected: "WriteBehind to return at once, while the API server has not answered yet",
		See:      limitsPart,
	})
	return done
}

// expectOnce looks for a second call of done.
func expectOnce(b *testbed.Bed, done <-chan error) {
	select {
	case err := <-done:
		b.Fail(testbed.Fail{Expected: "done to be called once", Seen: fmt.Sprintf("a second call, with %v", err), See: limitsPart})
	default:
	}
}

// expectEnded looks at the requests since mark: each must have come to its end.
func expectEnded(b *testbed.Bed, what string, mark proxy.Mark, match proxy.Match) {
	b.Eventually(patient, testbed.Fail{
		Expected: what + " to be cancelled, not left behind: its request closed by the client",
		See:      limitsPart,
	}, func(context.Context) (bool, string) {
		requests := b.Traffic().Since(mark).Requests(match)
		for _, r := range requests {
			if !r.Done {
				return false, "a request that still waits for its answer"
			}
		}
		return len(requests) > 0, fmt.Sprintf("%d requests", len(requests))
	})
	if n := b.Traffic().Since(mark).Count(match); n != 1 {
		b.Fail(testbed.Fail{
			Expected: what + " to be one request: who tries again needs a limit over all tries",
			Seen:     fmt.Sprintf("%d requests", n),
			See:      limitsPart,
		})
	}
}

// receive waits for a value of c, and fails with f if none comes.
func receive[T any](b *testbed.Bed, c <-chan T, without string, f testbed.Fail) T {
	var got T
	b.Eventually(patient, f, func(context.Context) (bool, string) {
		select {
		case got = <-c:
			return true, ""
		default:
			return false, without
		}
	})
	return got
}

// hung is a fault that lets requests hang.
type hung struct {
	*proxy.Handle
	arrived chan struct{} // a value for each request that came
}

// hang lets all requests that match wait, on their way to the API server, until
// Remove.
func hang(b *testbed.Bed, match proxy.Match) hung {
	arrived := make(chan struct{}, 100)
	return hung{b.Faults().Add(proxy.Rule{Match: match, Before: func() { arrived <- struct{}{} }, Hold: true}), arrived}
}
