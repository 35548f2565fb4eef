package informers

import (
	"context"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/controllings/controllings/todo"
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
	// TODO(2.9): tell changes from rechecks, which come from a resync.
	panic(todo.Step("2.9"))
}
