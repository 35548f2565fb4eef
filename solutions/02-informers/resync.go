package informers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
)

// WatchChanges calls changed with the name of each ConfigMap of the namespace that
// is there, and of each that is made or changed from then on. It calls recheck with
// the name of each at least once in every period, whether something has changed or
// not: something outside of the cluster hangs on it, and from there no events come.
//
// A recheck costs no request; what the API server knows, the watch has told already.
// And it is no change, nor is a new list in which a ConfigMap is what it was: changed
// isn't called for that. A period under a second is an error.
//
// WatchChanges returns when changed has returned for all that were there, and goes on
// until ctx ends. When ctx ends before, the error wraps the cause of that
// (context.Cause).
func WatchChanges(ctx context.Context, client kubernetes.Interface, namespace string, period time.Duration, changed, recheck func(name string)) error {
	if period < time.Second {
		return fmt.Errorf("watch the ConfigMaps of namespace %q: a period of %s is too short for a resync", namespace, period)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, period, informers.WithNamespace(namespace))
	handler, err := factory.Core().V1().ConfigMaps().TypedInformer().AddTypedEventHandler(coreinformers.ConfigMapHandlerFuncs{
		AddFunc: func(cm *corev1.ConfigMap) { changed(cm.Name) },
		UpdateFunc: func(old, current *corev1.ConfigMap) {
			if old.ResourceVersion == current.ResourceVersion {
				recheck(current.Name)
				return
			}
			changed(current.Name)
		},
	})
	if err != nil {
		return fmt.Errorf("watch the ConfigMaps of namespace %q: %w", namespace, err)
	}
	if err := startAndSync(ctx, factory); err != nil {
		return fmt.Errorf("watch the ConfigMaps of namespace %q: %w", namespace, err)
	}
	return handled(ctx, handler)
}
