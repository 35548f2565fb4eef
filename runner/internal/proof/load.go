package proof

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// load keeps every core busy until stop is called, from threads of this process:
// none of them can outlive it.
func load() (stop func()) {
	n := runtime.NumCPU()
	// Go's own work, such as waiting for the checks, doesn't queue behind it.
	before := runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	var over atomic.Bool
	var busy sync.WaitGroup
	for range n {
		busy.Go(func() {
			runtime.LockOSThread()
			for x := uint64(1); !over.Load(); x = x*6364136223846793005 + 1 {
			}
		})
	}
	return func() {
		over.Store(true)
		busy.Wait()
		runtime.GOMAXPROCS(before)
	}
}
