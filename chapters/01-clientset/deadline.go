package clientset

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/controllings/controllings/todo"
)

// ReadWithin reads a ConfigMap, and returns when limit is over at the latest,
// also if the API server never answers, and if other reads hang. The limit is for
// all of it: for the wait in the client's own queue, for the request, and for its
// answer. A limit of 0 or less is over at once.
//
// When the time was up, errors.Is finds context.DeadlineExceeded in the error;
// when ctx was cancelled first, context.Canceled. A queue that is too long for
// the limit is an error at once, and neither of the two. The API server's own
// errors are in it as they came.
//
// When ReadWithin has returned, nothing of it goes on: no request, no timer and no
// goroutine.
func ReadWithin(ctx context.Context, client kubernetes.Interface, namespace, name string, limit time.Duration) (*corev1.ConfigMap, error) {
	// TODO(1.8): read the ConfigMap, and end the request with the limit or with ctx.
	panic(todo.Step("1.8"))
}

// WriteBehind begins to create a ConfigMap and returns at once, without waiting
// for an answer. It is made for HTTP handlers: ctx is the context of the request
// that the handler serves, and ends when the handler returns. The write goes on
// all the same, also where ctx has ended before, with the values of ctx and within
// a limit of its own, which counts from the call. A limit of 0 or less is over at
// once.
//
// done is called once, on another goroutine, with nil or with what went wrong:
// context.DeadlineExceeded, to errors.Is, when the limit was over. The API server's
// own errors are in it as they came. The caller leaves settings alone until then.
func WriteBehind(ctx context.Context, client kubernetes.Interface, settings *corev1.ConfigMap, limit time.Duration, done func(error)) {
	// TODO(1.8): create the ConfigMap in a goroutine that the end of ctx doesn't end.
	panic(todo.Step("1.8"))
}
