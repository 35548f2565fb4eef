package testbed

import (
	"fmt"
	"time"
)

// lastWord is how long before the test's time is up the bed reports it. After
// that the process ends with a trace, which shows where the code was but not
// what it had been doing.
const lastWord = 300 * time.Millisecond

// watchDeadline reports a test that does not end, together with the requests it
// sent: a loop that asks the same again and again is plain to see there.
func (b *Bed) watchDeadline() {
	timed, ok := b.t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return
	}
	end, ok := timed.Deadline()
	if !ok {
		return
	}
	begin := time.Now()
	timer := time.AfterFunc(time.Until(end)-lastWord, func() {
		b.tell(Fail{
			Expected: "the code to come to an end",
			Seen:     fmt.Sprintf("it was still running after %s", round(time.Since(begin))),
		})
	})
	b.t.Cleanup(func() { timer.Stop() })
}
