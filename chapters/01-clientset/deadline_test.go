package clientset_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

func TestNothingWaitsForEver(t *testing.T) {
	b := testbed.New(t)
	for _, name := range []string{"app", "other"} {
		b.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"colour": "blue"}})
	}

	readAnswers(b)
	readHangs(b)
	readWaitsInTheQueue(b)
	readHasNoTime(b)
	readLeavesNothing(b)

	writeOutlivesTheHandler(b)
	writeHangs(b)
	writeBeginsLate(b)
	writeIsRefused(b)
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
