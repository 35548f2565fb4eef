package sharing

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
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
	// What ctx ends is the taking of new work. The work itself has a context of
	// its own, and so have the caches that it reads.
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	queue := NewQueue(o.Base, o.Longest)
	defer queue.ShutDown()

	caches := NewCaches(client, append([]string{o.Source}, o.Targets...)...)
	defer caches.Shutdown()
	defer stop() // before Shutdown, which waits

	if err := caches.Handle(Handler(o.Source, o.Targets, queue)); err != nil {
		return err
	}
	caches.Start(working)
	if err := caches.WaitForSync(ctx); err != nil {
		return err
	}

	copier := &Copier{Client: client, Caches: caches, Queue: queue, Source: o.Source}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Work(o.Workers, func() bool { return Next(working, queue, copier.Sync, o.Report) })
	}()

	<-ctx.Done()
	queue.ShutDown() // takes nothing new; workers get what is in it, and then the end
	select {
	case <-done:
		return nil
	case <-time.After(o.Grace):
		stop()
		<-done
		return fmt.Errorf("stop the controller: work was left after %s", o.Grace)
	}
}
