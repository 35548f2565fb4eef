package sharing

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/controllings/controllings/todo"
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
	// TODO(3.1): return a cache.TypedResourceEventHandlerFuncs that adds keys.
	panic(todo.Step("3.1"))
}
