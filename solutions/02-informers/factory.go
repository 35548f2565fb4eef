package informers

import (
	"context"
	"fmt"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// SyncedPods begins to keep a copy of the Pods of one namespace, and returns a
// lister of it as soon as the copy is whole: what was there at the call is in it
// then. The copy follows the API server until ctx ends.
//
// There is no lister of a copy that isn't whole: when ctx ends before, the error
// wraps the cause of that (context.Cause).
func SyncedPods(ctx context.Context, client kubernetes.Interface, namespace string) (corelisters.PodNamespaceLister, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	pods := factory.Core().V1().Pods().Lister().Pods(namespace)
	if err := startAndSync(ctx, factory); err != nil {
		return nil, fmt.Errorf("copy the Pods of namespace %q: %w", namespace, err)
	}
	return pods, nil
}

// startAndSync starts the informers that factory has been asked for, and waits until
// each of them has a whole copy. They run until ctx ends. When that is before a copy
// is whole, the error wraps the cause of it (context.Cause).
func startAndSync(ctx context.Context, factory informers.SharedInformerFactory) error {
	factory.StartWithContext(ctx)
	return factory.WaitForCacheSyncWithContext(ctx).AsError()
}
