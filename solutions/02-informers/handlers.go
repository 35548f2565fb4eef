package informers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// EnqueueApps calls enqueue with the key of an app, such as "shop/web", for each
// event about a Pod that belongs to it: made, changed, deleted, and once for each
// that was there before. A Pod belongs to the app that its label "app" names, in its
// own namespace, and to none without that label. When a change moves it from one app
// to another, both are told, the old one first.
//
// The key is all that enqueue gets; whoever works on it reads what it needs then. So
// the handler does nothing else: it sends no request and waits for nothing but
// enqueue, which it calls in the order of the events, one call at a time. Nothing is
// left out when enqueue is slow.
//
// EnqueueApps returns when enqueue has been called for all Pods that were there,
// and goes on until ctx ends. When ctx ends before, the error wraps the cause of
// that (context.Cause).
func EnqueueApps(ctx context.Context, client kubernetes.Interface, namespace string, enqueue func(key string)) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	handler, err := factory.Core().V1().Pods().TypedInformer().AddTypedEventHandler(coreinformers.PodHandlerFuncs{
		AddFunc: func(pod *corev1.Pod) { enqueueApp(pod, enqueue) },
		UpdateFunc: func(old, current *corev1.Pod) {
			if old.Labels["app"] != current.Labels["app"] {
				enqueueApp(old, enqueue)
			}
			enqueueApp(current, enqueue)
		},
		DeleteFunc: func(deleted coreinformers.DeletedPod) {
			if deleted.OptionalObj != nil {
				enqueueApp(deleted.OptionalObj, enqueue)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watch the Pods of namespace %q: %w", namespace, err)
	}
	if err := startAndSync(ctx, factory); err != nil {
		return fmt.Errorf("watch the Pods of namespace %q: %w", namespace, err)
	}
	return handled(ctx, handler)
}

func enqueueApp(pod *corev1.Pod, enqueue func(key string)) {
	if app := pod.Labels["app"]; app != "" {
		enqueue(cache.NewObjectName(pod.Namespace, app).String())
	}
}
