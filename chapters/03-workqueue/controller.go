package sharing

import (
	"context"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/controllings/controllings/todo"
)

// Options say what a controller works on, and how.
type Options struct {
	Source  string   // the namespace with what is shared
	Targets []string // the namespaces that may ask

	Workers int // how many copies are worked on at once

	// Base and Longest bound the time until a failure is tried again, see NewQueue.
	Base, Longest time.Duration

	// Grace is how long the controller may take to stop.
	Grace time.Duration

	// Report is told of each failure, by several goroutines at once.
	Report func(Key, error)
}

// Run runs the controller until ctx ends. No key is worked on before the caches
// are full.
//
// When ctx ends, what is in work and what is queued is finished: ctx ends none of
// it, and no request of it is cut off. What fails now is not tried again. If it
// isn't done within Grace, Run ends it, and returns an error; else it returns nil.
// It returns an error, too, when ctx ends before the caches are full.
//
// Nothing of it runs any more when Run has returned: no worker, no informer, no
// queue.
func Run(ctx context.Context, client kubernetes.Interface, o Options) error {
	// TODO(3.6): put the parts together, start them, and stop them.
	panic(todo.Step("3.6"))
}
