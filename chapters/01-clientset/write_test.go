package clientset_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

var configMapWrites = proxy.Match{Verb: "create", Resource: "configmaps"}

// writeOutlivesTheHandler lets the API server answer after the handler has returned.
func writeOutlivesTheHandler(b *testbed.Bed) {
	var contexts seenContexts
	client := contexts.client(b)
	handler := serve(b)
	held := hang(b, configMapWrites)
	defer held.Remove()
	done := writeBehind(handler.context(b), b, client, "audit-1", long)
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
	expectWritten(b, "audit-1")
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

// writeHangs writes to an API server that never answers, while another write hangs
// there that has more time.
func writeHangs(b *testbed.Bed) {
	handler := serve(b)
	ctx := handler.context(b)
	hanging := hang(b, configMapWrites)
	defer hanging.Remove()
	writeBehind(ctx, b, b.Clientset(), "audit-2", long)
	receive(b, hanging.arrived, "no request to create the ConfigMap came", testbed.Fail{
		Expected: "WriteBehind to send a create",
		See:      limitsPart,
	})

	mark, begin := b.Traffic().Mark(), time.Now()
	limit := testbed.Scale(short)
	done := writeBehind(ctx, b, b.Clientset(), "audit-3", limit)
	handler.finish(b)
	err := receive(b, done, "done was not called", testbed.Fail{
		Expected: fmt.Sprintf("the write to have a limit of its own, %s, now that nobody waits for it, and although another one hangs", limit),
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

	err = receive(b, writeBehind(b.Context(), b, b.Clientset(), "audit-4", 0), "done was not called", testbed.Fail{
		Expected: "a write whose limit is 0 to be over at once: it doesn't mean that there is none",
		See:      limitsPart,
	})
	expectTimeUp(b, 0, err)
}

// writeBeginsLate calls WriteBehind with a context that has ended: whoever sent the
// handler its request has hung up, and the time that the request had is over.
func writeBeginsLate(b *testbed.Bed) {
	ctx, cancel := context.WithDeadline(b.Context(), time.Now().Add(-time.Second))
	defer cancel()
	err := receive(b, writeBehind(ctx, b, b.Clientset(), "audit-5", long), "done was not called", testbed.Fail{
		Expected: "done to be called when the write is done",
		See:      limitsPart,
	})
	b.NoError(err, testbed.Fail{
		Expected: "the write to begin although the handler's context ended before, and to know nothing of that context's deadline",
		See:      limitsPart,
	})
	expectWritten(b, "audit-5")
}

// writeIsRefused writes a ConfigMap of a name that is taken.
func writeIsRefused(b *testbed.Bed) {
	err := receive(b, writeBehind(b.Context(), b, b.Clientset(), "app", long), "done was not called", testbed.Fail{
		Expected: "done to be called when the API server has refused the write",
		See:      limitsPart,
	})
	if !apierrors.IsAlreadyExists(err) {
		b.Fail(testbed.Fail{
			Expected: "done to be told what went wrong, AlreadyExists, as the API server said it: the ConfigMap app is somebody else's",
			Seen:     fmt.Sprintf("error: %v", err),
			See:      limitsPart,
		})
	}
}

// writeBehind calls WriteBehind as a handler would, and returns what is told to
// done.
func writeBehind(ctx context.Context, b *testbed.Bed, client kubernetes.Interface, name string, limit time.Duration) <-chan error {
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace(), Name: name}}
	done, returned := make(chan error, 10), make(chan error, 1)
	var callers sync.Mutex // held by the caller, and wanted by done
	callers.Lock()
	go func() {
		clientset.WriteBehind(ctx, client, settings, limit, func(err error) {
			callers.Lock()
			defer callers.Unlock()
			done <- err
		})
		returned <- nil
	}()
	_ = receive(b, returned, "it has not returned", testbed.Fail{
		Expected: "WriteBehind to return at once, while the API server has not answered yet, and done to be called on another goroutine: its caller holds a lock that done takes",
		See:      limitsPart,
	})
	callers.Unlock()
	return done
}

// expectWritten looks for a ConfigMap that done has said nil of.
func expectWritten(b *testbed.Bed, name string) {
	_, err := b.Admin().CoreV1().ConfigMaps(b.Namespace()).Get(b.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("the ConfigMap %s on the API server, since done said nil", name),
			Seen:     "it is not there",
			See:      limitsPart,
		})
	}
	b.Must(err, "read the ConfigMap")
}

// expectOnce looks for a second call of done.
func expectOnce(b *testbed.Bed, done <-chan error) {
	select {
	case err := <-done:
		b.Fail(testbed.Fail{Expected: "done to be called once", Seen: fmt.Sprintf("a second call, with %v", err), See: limitsPart})
	default:
	}
}
