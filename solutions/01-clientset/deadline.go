package clientset

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
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
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	settings, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %q within %s: %w", name, limit, err)
	}
	return settings, nil
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	go func() {
		defer cancel()
		_, err := client.CoreV1().ConfigMaps(settings.Namespace).Create(ctx, settings, metav1.CreateOptions{})
		if err != nil {
			err = fmt.Errorf("create ConfigMap %q within %s: %w", settings.Name, limit, err)
		}
		done(err)
	}()
}
