package clientset_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

var configMapReads = proxy.Match{Verb: "get", Resource: "configmaps"}

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

// readHangs reads from an API server that never answers: once with a limit that is
// over soon, and meanwhile for a caller that has more time, and gives up.
func readHangs(b *testbed.Bed) {
	hanging := hang(b, configMapReads)
	defer hanging.Remove()
	ctx, giveUp := context.WithCancel(b.Context())
	defer giveUp()
	other := b.Traffic().Mark()
	returned := startRead(ctx, b, b.Clientset(), "other", long)
	receive(b, hanging.arrived, "no request to read the ConfigMap came", testbed.Fail{
		Expected: "ReadWithin to send a get",
		See:      limitsPart,
	})

	mark, begin := b.Traffic().Mark(), time.Now()
	limit := testbed.Scale(short)
	before := learnersGoroutines()
	err := read(b.Context(), b, b.Clientset(), "app", limit, testbed.Fail{
		Expected: fmt.Sprintf("ReadWithin to return when its limit of %s is over, although the API server doesn't answer it, nor another call of it", limit),
		See:      limitsPart,
	})
	if took := time.Since(begin); took < limit {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("ReadWithin to use the %s that it has", limit),
			Seen:     fmt.Sprintf("it gave up after %s: %v", took.Round(time.Millisecond), err),
			See:      limitsPart,
		})
	}
	expectTimeUp(b, limit, err)
	expectEnded(b, "the read", mark, configMapReads)

	// By HTTP/1.1, net/http returns the cause of a context's end for its error.
	err = read(b.Context(), b, http1Client(b), "app", limit, testbed.Fail{
		Expected: fmt.Sprintf("ReadWithin to return when its limit of %s is over, by HTTP/1.1 as well", limit),
		See:      limitsPart,
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		b.Fail(testbed.Fail{
			Expected: "an error in which errors.Is finds context.DeadlineExceeded, by HTTP/1.1 as well: a context with a cause of its own ends with that there",
			Seen:     fmt.Sprintf("error: %v", err),
			See:      limitsPart,
		})
	}

	b.Eventually(patient, testbed.Fail{
		Expected: "no goroutine to go on that ReadWithin has started: whoever sends an answer must find room for it when nobody waits any more",
		See:      limitsPart,
	}, func(context.Context) (bool, string) {
		left := goroutinesSince(before)
		return len(left) == 0, strings.Join(left, "\n")
	})

	giveUp()
	err = receive(b, returned, "it has not returned", testbed.Fail{
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
	givenUp := configMapReads
	givenUp.Name = "other"
	expectEnded(b, "the read that was given up", other, givenUp)
}

// http1Client is a client that speaks HTTP/1.1, as through many a proxy.
func http1Client(b *testbed.Bed) kubernetes.Interface {
	config := b.Config()
	config.NextProtos = []string{"http/1.1"}
	client, err := kubernetes.NewForConfig(config)
	b.Must(err, "make a client")
	return client
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
	for _, limit := range []time.Duration{testbed.Scale(short), long} {
		err := read(b.Context(), b, client, "app", limit, testbed.Fail{
			Expected: fmt.Sprintf("the limit of %s to hold in the client's own queue too, where a request waits for its budget: that it waits too long is known at once", limit),
			See:      limitsPart,
		})
		if err == nil {
			b.Fail(testbed.Fail{
				Expected: "an error where the client's budget lets no request through in time",
				Seen:     "no error",
				See:      limitsPart,
			})
		}
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			b.Fail(testbed.Fail{
				Expected: "the client's own refusal as it came, where its queue is too long: neither was the time up, nor did the caller give up",
				Seen:     fmt.Sprintf("DeadlineExceeded or Canceled in the error: %v", err),
				See:      limitsPart,
			})
		}
	}
}

// readHasNoTime reads with a limit that is over before it begins.
func readHasNoTime(b *testbed.Bed) {
	hanging := hang(b, configMapReads)
	defer hanging.Remove()
	for _, limit := range []time.Duration{0, -time.Second} {
		expectTimeUp(b, limit, read(b.Context(), b, b.Clientset(), "app", limit, testbed.Fail{
			Expected: fmt.Sprintf("a limit of %s to be over at once: it doesn't mean that there is none", limit),
			See:      limitsPart,
		}))
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

// expectTimeUp looks at the error of a call whose limit was over.
func expectTimeUp(b *testbed.Bed, limit time.Duration, err error) {
	if !errors.Is(err, context.DeadlineExceeded) {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("an error in which errors.Is finds context.DeadlineExceeded, when the limit of %s is over", limit),
			Seen:     fmt.Sprintf("error: %v", err),
			See:      limitsPart,
		})
	}
}

// read calls ReadWithin, and fails with f if it doesn't return.
func read(ctx context.Context, b *testbed.Bed, client kubernetes.Interface, name string, limit time.Duration, f testbed.Fail) error {
	return receive(b, startRead(ctx, b, client, name, limit), "it has not returned", f)
}

// startRead calls ReadWithin without waiting for its end.
func startRead(ctx context.Context, b *testbed.Bed, client kubernetes.Interface, name string, limit time.Duration) <-chan error {
	returned := make(chan error, 1)
	go func() {
		_, err := clientset.ReadWithin(ctx, client, b.Namespace(), name, limit)
		returned <- err
	}()
	return returned
}
