package testbed

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/controllings/controllings/todo/channel"
)

// report tells the runner how a test goes. There is one for each test, however
// many beds it has.
type report struct {
	t      testing.TB
	failed chan struct{} // closed with the first verdict that ends the test early

	mu      sync.Mutex
	told    bool   // a final event has been sent
	skipped string // why the testbed skips the test, if it does
}

var reports sync.Map // of *report, by the test's name

// watchOver says that the test has started, and at its end whether it passed.
func watchOver(t testing.TB) *report {
	r := &report{t: t, failed: make(chan struct{})}
	if first, again := reports.LoadOrStore(t.Name(), r); again {
		return first.(*report)
	}
	r.send(channel.Message{Event: channel.Started})
	// Clean-ups run last in, first out, and this is the first of them: whatever
	// fails in the others counts.
	t.Cleanup(func() {
		reports.Delete(t.Name())
		r.finish(unwinding())
	})
	return r
}

// failure reports the first failure; the others are in the test's output only.
func (r *report) failure(f Fail, file string, line int) {
	r.final(channel.Message{Event: channel.Failed, Failure: &channel.Failure{
		Expected: f.Expected, Seen: f.Seen, See: f.See, Message: f.String(), File: file, Line: line,
	}})
}

// error reports that there is no verdict on the learner's code.
func (r *report) error(err error) {
	r.final(channel.Message{Event: channel.Error, Failure: &channel.Failure{Message: err.Error()}})
}

// skip ends the test, which this cluster can't run. Until its clean-ups are done
// it may still fail, so it is reported only then.
func (r *report) skip(why string) {
	r.mu.Lock()
	r.skipped = why
	r.mu.Unlock()
	r.t.Skip(why)
}

// notStarted reports a step of the exercise that another process ran into.
func (r *report) notStarted(m channel.Message) {
	r.final(channel.Message{Event: channel.NotStarted, Step: m.Step, Failure: m.Failure})
}

func (r *report) finish(how string) {
	message := func(s string) *channel.Failure { return &channel.Failure{Message: s} }
	switch {
	case how == byPanic:
		r.final(channel.Message{Event: channel.Failed, Failure: message("the check panicked: see its output")})
	case r.t.Failed():
		r.final(channel.Message{Event: channel.Failed, Failure: message("the check failed: see its output")})
	case r.t.Skipped():
		r.mu.Lock()
		why := r.skipped
		r.mu.Unlock()
		if why == "" {
			r.final(channel.Message{Event: channel.Skipped})
			return
		}
		r.final(channel.Message{Event: channel.Skipped, Failure: message(why)})
	case how == byGoexit: // FailNow and SkipNow do so too, but were seen above
		r.final(channel.Message{Event: channel.Failed, Failure: message("the check's goroutine was ended by runtime.Goexit")})
	default:
		r.final(channel.Message{Event: channel.Passed})
	}
}

func (r *report) final(m channel.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told {
		return
	}
	r.told = true
	switch m.Event {
	case channel.Failed, channel.Error, channel.NotStarted:
		close(r.failed)
	}
	r.send(m)
}

func (r *report) send(m channel.Message) {
	m.Test = r.t.Name()
	if err := channel.Send(m); err != nil && !errors.Is(err, channel.ErrNone) {
		// Without its report the check can't pass, so this hides nothing.
		fmt.Fprintf(os.Stderr, "testbed: report %q: %v\n", m.Event, err)
	}
}

// How a test's goroutine may come to its clean-ups, other than by returning.
const (
	byPanic  = "runtime.gopanic"
	byGoexit = "runtime.Goexit"
)

// unwinding returns byPanic or byGoexit if that is why the clean-ups run, and ""
// if the test has returned. testing marks such a test as failed only after its
// clean-ups, so t.Failed doesn't tell; the stack does.
func unwinding() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		frame, more := frames.Next()
		if frame.Function == byPanic || frame.Function == byGoexit {
			return frame.Function
		}
		if !more {
			return ""
		}
	}
}
