package sharing

import (
	"context"
	"sync"
)

// Work has this many workers call next, each again and again without a pause,
// until next returns false to it. It returns when all workers have ended.
func Work(workers int, next func() bool) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for next() {
			}
		})
	}
	all.Wait()
}

// Next takes one key from the queue, waiting for it if need be, and calls handle
// with it and ctx, once. Until handle has returned no other call of Next gets that
// key; what is added meanwhile comes afterwards. Whatever becomes of handle, also
// if it panics, the key can be taken again.
//
// After an error the key comes again, later and later with each failure in a row
// (AddRateLimited), for ever; and the error is handed to report, each time. After
// a success its failures are forgotten.
//
// Next returns true, and false when the queue was shut down and is empty: an error
// is no reason to stop. It doesn't wait for the retry.
func Next(ctx context.Context, queue Queue, handle func(context.Context, Key) error, report func(Key, error)) bool {
	key, shutdown := queue.Get()
	if shutdown {
		return false
	}
	defer queue.Done(key)

	if err := handle(ctx, key); err != nil {
		report(key, err)
		queue.AddRateLimited(key)
		return true
	}
	queue.Forget(key)
	return true
}
