package sharing

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Handler returns what is to be called for each event of a ConfigMap, in the
// source namespace and in the targets. It adds to the queue the key of each copy
// that the event may be about, at once and without asking anybody, and does
// nothing else.
//
//   - A ConfigMap of the source namespace is about the copy of its name in each
//     target.
//   - A ConfigMap of a target is about the copy of its own name: it may be that
//     copy, or stand in its place.
//   - A request is about the copy that it asks for, too.
//
// What an object was before counts as much as what it is now: a request that has
// changed its mind is about two copies, and one that is deleted is about the copy
// it asked for. Of some deleted objects no more than the name is known.
//
// A ConfigMap in any other namespace is about nothing, and no key is of any
// namespace but the targets. source is none of these.
func Handler(source string, targets []string, queue Queue) cache.TypedResourceEventHandler[*corev1.ConfigMap] {
	addName := func(namespace, name string) {
		switch {
		case namespace == source:
			for _, target := range targets {
				queue.Add(Key{Namespace: target, Name: name})
			}
		case slices.Contains(targets, namespace):
			queue.Add(Key{Namespace: namespace, Name: name})
		}
	}
	add := func(cm *corev1.ConfigMap) {
		addName(cm.Namespace, cm.Name)
		if request, ok := RequestOf(cm); ok && cm.Namespace != source {
			addName(cm.Namespace, request.Source)
		}
	}
	return cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
		AddFunc: add,
		UpdateFunc: func(before, after *corev1.ConfigMap) {
			add(before)
			add(after)
		},
		DeleteFunc: func(deleted cache.DeletedObject[*corev1.ConfigMap]) {
			if deleted.OptionalObj != nil {
				add(deleted.OptionalObj)
				return
			}
			addName(deleted.GetNamespace(), deleted.GetName())
		},
	}
}
