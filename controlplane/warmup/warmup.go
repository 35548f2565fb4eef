// Package warmup makes a component's start quick and leaves it small.
//
// While it starts, it is spared the garbage collector: starting a Kubernetes
// component allocates two or three times what it later keeps, in a heap that
// begins small, so the collector would run dozens of times over what is not
// garbage yet.
//
// Once it has started, it gives back what only the start needed: the heap's
// spare pages, and the pages of the program itself that were read to get going
// (a hundred megabytes of tables and initialisers).
package warmup

import (
	"math"
	"runtime/debug"
	"time"
)

// Env is what a process is to be started with: no collection until the heap has
// grown to a size that no start reaches.
func Env() []string { return []string{"GOGC=off", "GOMEMLIMIT=400MiB"} }

// After ends the warming up once d has passed: from then on the collector keeps
// the heap within percent of what is alive, as GOGC says.
func After(d time.Duration, percent int) {
	time.AfterFunc(d, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(math.MaxInt64)
		debug.FreeOSMemory()
		dropProgramPages()
	})
}
