package informers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
)

// WatchGone calls gone once for each ConfigMap of the namespace that ceases to be
// there, with the last state that is known of it: something outside of the cluster
// hangs on it, and must go too. It doesn't matter how WatchGone learns of it:
//
//   - a deletion that no event has told of, because the watch was broken off, counts
//     as soon as the copy is made anew;
//   - what was deleted and made again under the same name in between is another
//     ConfigMap, with another UID: the one before is gone;
//   - one that is being deleted, and waits for a finalizer, is still there.
//
// WatchGone returns when it knows all ConfigMaps that were there at the call, and
// goes on until ctx ends. When ctx ends before, the error wraps the cause of that
// (context.Cause).
func WatchGone(ctx context.Context, client kubernetes.Interface, namespace string, gone func(*corev1.ConfigMap)) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	_, err := factory.Core().V1().ConfigMaps().TypedInformer().AddTypedEventHandler(coreinformers.ConfigMapHandlerFuncs{
		UpdateFunc: func(old, current *corev1.ConfigMap) {
			if old.UID != current.UID {
				gone(old)
			}
		},
		DeleteFunc: func(deleted coreinformers.DeletedConfigMap) {
			if deleted.OptionalObj != nil {
				gone(deleted.OptionalObj)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watch the ConfigMaps of namespace %q: %w", namespace, err)
	}
	return startAndSync(ctx, factory)
}
