package channel

import (
	"errors"
	"syscall"
	"time"
)

// beat is how often a check's process finds out whether its runner is there.
const beat = 250 * time.Millisecond

// keepAsking ends this process, and what it started in its process group, when
// the runner is gone: killed by kill -9, it has not killed its checks, and they
// would load the cluster up to their time limits. A write to a pipe that nobody
// holds the other end of fails; an empty line is what Read drops anyway.
//
// A timer and not a goroutine: a check that looks for goroutines that the
// learner's code has left finds none of ours.
func keepAsking() {
	time.AfterFunc(beat, func() {
		if runnerIsGone() {
			die()
			return
		}
		keepAsking()
	})
}

func runnerIsGone() bool {
	mu.Lock() // no line is torn
	defer mu.Unlock()
	_, err := out.Write([]byte{'\n'})
	return errors.Is(err, syscall.EPIPE)
}
