package channel

import (
	"slices"
	"sync"
	"time"
)

// leaveTime is what all functions of BeforeExit together may take.
const leaveTime = 2 * time.Second

var (
	leaveMu sync.Mutex
	leaving []*func()
)

// BeforeExit lets f run before todo.Step ends the process, where no clean-up of a
// test does, unless cancel was called. It may run on any goroutine, and is not
// waited for longer than two seconds.
func BeforeExit(f func()) (cancel func()) {
	leaveMu.Lock()
	defer leaveMu.Unlock()
	leaving = append(leaving, &f)
	return func() {
		leaveMu.Lock()
		defer leaveMu.Unlock()
		leaving = slices.DeleteFunc(leaving, func(o *func()) bool { return o == &f })
	}
}

// Leave runs what BeforeExit was given.
func Leave() {
	leaveMu.Lock()
	fs := slices.Clone(leaving)
	leaveMu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var all sync.WaitGroup
		for _, f := range fs {
			all.Go(*f)
		}
		all.Wait()
	}()
	select {
	case <-done:
	case <-time.After(leaveTime):
	}
}
