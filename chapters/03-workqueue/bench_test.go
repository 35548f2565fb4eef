package sharing_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
)

// What the benchmarks' controller is up against: more updates than it can take if
// it does the work once for each. Half of them are of one key, as where somebody
// writes a status every few milliseconds.
const (
	benchWorkers = 8
	benchWork    = 20 * time.Millisecond // of one look at a key: 400 a second at most
	benchRate    = 500                   // updates a second
	benchUpdates = 1500
)

func BenchmarkFiftyKeys(b *testing.B)       { benchPools(b, 50) }
func BenchmarkFiveHundredKeys(b *testing.B) { benchPools(b, 500) }

// benchPools sends updates to three kinds of pools. Each is measured until the
// last update has been seen.
func benchPools(b *testing.B, keys int) {
	for _, pool := range []struct {
		name  string
		start func(w *updates) (add func(sharing.Key), stop func())
	}{
		{"channel, 1 goroutine", channelPool(1)},
		{"channel, 8 goroutines", channelPool(benchWorkers)},
		{"work queue, 8 workers", queuePool},
	} {
		b.Run(pool.name, func(b *testing.B) {
			for b.Loop() {
				w := newUpdates(keys)
				before := heap()
				add, stop := pool.start(w)
				begin := time.Now()
				for i := range benchUpdates {
					due := begin.Add(time.Duration(i) * time.Second / benchRate)
					time.Sleep(time.Until(due)) //nolint:forbidigo // the pace; no wait when add held us up
					n := i % keys
					if i%2 == 0 {
						n = 0
					}
					add(w.add(n, due))
				}
				held := heap() - before
				w.waitUntilSeen()
				took := time.Since(begin).Seconds()
				stop()

				slices.Sort(w.late)
				b.ReportMetric(benchUpdates/took, "updates/s")
				b.ReportMetric(float64(w.late[len(w.late)*99/100].Milliseconds()), "P99-ms")
				b.ReportMetric(float64(w.looks), "looks")
				b.ReportMetric(float64(w.forNothing), "for-nothing")
				b.ReportMetric(float64(w.together), "two-at-once")
				b.ReportMetric(max(0, float64(held)/1024), "KiB")
			}
			b.ReportMetric(0, "ns/op") // a pass is one run
		})
	}
}

// channelPool is what articles call the pattern: a buffered channel of 1,024 and
// some goroutines.
func channelPool(workers int) func(*updates) (func(sharing.Key), func()) {
	return func(w *updates) (func(sharing.Key), func()) {
		items := make(chan sharing.Key, 1024)
		var pool sync.WaitGroup
		for range workers {
			pool.Go(func() {
				for k := range items {
					_ = w.look(context.Background(), k)
				}
			})
		}
		return func(k sharing.Key) { items <- k }, func() { close(items); pool.Wait() }
	}
}

// queuePool is this chapter's answer.
func queuePool(w *updates) (func(sharing.Key), func()) {
	queue := sharing.NewQueue(5*time.Millisecond, time.Second)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		sharing.Work(benchWorkers, func() bool {
			return sharing.Next(context.Background(), queue, w.look, func(sharing.Key, error) {})
		})
	}()
	return queue.Add, func() { queue.ShutDown(); <-ended }
}

// updates has objects that are updated, and counts what those who look at them do.
type updates struct {
	mu                          sync.Mutex
	updated                     map[sharing.Key][]time.Time // updates that nobody has seen yet
	busy                        map[sharing.Key]int
	late                        []time.Duration // from an update until it has been seen
	looks, forNothing, together int
	names                       []sharing.Key
	all                         chan struct{} // closed when every update has been seen
}

func newUpdates(keys int) *updates {
	w := &updates{updated: map[sharing.Key][]time.Time{}, busy: map[sharing.Key]int{}, all: make(chan struct{})}
	w.late = make([]time.Duration, 0, benchUpdates)
	for i := range keys {
		w.names = append(w.names, key(fmt.Sprintf("settings-%d", i)))
	}
	return w
}

func (w *updates) add(i int, due time.Time) sharing.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.names[i]
	w.updated[k] = append(w.updated[k], due)
	return k
}

// look sees all updates that a key has had by now, and takes its time over it.
func (w *updates) look(_ context.Context, k sharing.Key) error {
	w.mu.Lock()
	seen := w.updated[k]
	w.updated[k] = nil
	w.looks++
	if len(seen) == 0 {
		w.forNothing++
	}
	if w.busy[k]++; w.busy[k] > 1 {
		w.together++
	}
	w.mu.Unlock()

	time.Sleep(benchWork) //nolint:forbidigo // the work

	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy[k]--
	for _, due := range seen {
		w.late = append(w.late, time.Since(due))
	}
	if len(seen) > 0 && len(w.late) == benchUpdates {
		close(w.all)
	}
	return nil
}

func (w *updates) waitUntilSeen() { <-w.all }

// heap is how much is in use, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
