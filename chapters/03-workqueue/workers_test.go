package sharing_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
	"github.com/controllings/controllings/testbed"
)

const workersPart = "README.md#workers"

func TestWorkersWorkTogether(t *testing.T) {
	b := testbed.New(t)
	for _, workers := range []int{4, 1} {
		expectPool(t, b, workers)
	}
	expectEachToItsEnd(t, b)
}

// expectPool has 12 pieces of work of a second each done by a number of workers.
func expectPool(t *testing.T, b *testbed.Bed, workers int) {
	const pieces = 12
	var mu sync.Mutex
	var begun, busy, most, ends int
	var took time.Duration
	withoutWaiting(t, func() {
		start := time.Now()
		work(workers, func() bool {
			mu.Lock()
			if begun == pieces {
				ends++
				n := ends
				mu.Unlock()
				if n > 100 {
					runtime.Goexit() // somebody who won't stop
				}
				return false
			}
			begun++
			busy++
			most = max(most, busy)
			mu.Unlock()

			pass(time.Second)

			mu.Lock()
			busy--
			mu.Unlock()
			return true
		})
		took = time.Since(start)
		pass(time.Hour) // for whoever was left behind
	})

	within := fmt.Sprintf("%d workers for %d pieces of work, a second each", workers, pieces)
	should := time.Duration(pieces/workers) * time.Second
	switch {
	case took < should && most <= workers:
		b.Fail(testbed.Fail{
			Expected: within + ": Work to return when all of them have ended",
			Seen:     fmt.Sprintf("Work returned after %s, with work under way", took),
			See:      workersPart,
		})
	case most != workers:
		b.Fail(testbed.Fail{
			Expected: within + fmt.Sprintf(": %d at work at the same time", workers),
			Seen:     fmt.Sprintf("%d at most", most),
			See:      workersPart,
		})
	case took != should:
		b.Fail(testbed.Fail{
			Expected: within + fmt.Sprintf(": all of it done after %s, without a pause between two pieces", should),
			Seen:     fmt.Sprintf("%d of %d begun, and Work returned after %s", begun, pieces, took),
			See:      workersPart,
		})
	case ends != workers:
		b.Fail(testbed.Fail{
			Expected: within + ": each worker to end when next returns false to it, and none to ask again",
			Seen:     fmt.Sprintf("next returned false %d times", ends),
			See:      workersPart,
		})
	}
}

// expectEachToItsEnd lets one worker end at once, and another have work for longer.
func expectEachToItsEnd(t *testing.T, b *testbed.Bed) {
	var mu sync.Mutex
	var calls, finished int
	var took time.Duration
	withoutWaiting(t, func() {
		start := time.Now()
		work(2, func() bool {
			mu.Lock()
			calls++
			n := calls
			mu.Unlock()
			if n > 100 {
				runtime.Goexit()
			}
			if n == 1 || n > 4 {
				return false
			}
			pass(10 * time.Second)
			mu.Lock()
			finished++
			mu.Unlock()
			return true
		})
		took = time.Since(start)
		pass(time.Hour)
	})
	if took != 30*time.Second || finished != 3 {
		b.Fail(testbed.Fail{
			Expected: "one of two workers to end at once, and Work to wait for the other, which has 3 pieces of 10s to do",
			Seen:     fmt.Sprintf("Work returned after %s, and %d were finished in the end", took, finished),
			See:      workersPart,
		})
	}
}

// work calls Work on a goroutine of its own, which next may end.
func work(workers int, next func() bool) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		sharing.Work(workers, next)
	}()
	<-ended
}
