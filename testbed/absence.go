package testbed

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/controllings/controllings/testbed/proxy"
)

// defaultWindow is how long nothing must happen: a controller that triggers itself
// does so within milliseconds, and a slow machine gets three seconds to do it.
const defaultWindow = 3 * time.Second

// Absence says which requests must not be sent, and what shows that they would
// have been seen.
type Absence struct {
	// Match chooses the requests that must not be sent.
	Match proxy.Match
	// Where, if not nil, leaves only those of them for which it returns true:
	// for what a Match can't say, such as "a limit other than 500".
	Where func(proxy.Request) bool
	// Window is how long they must not be sent, stretched by Scale. Default 3 s.
	// NoRequestsSince needs none.
	Window time.Duration
	// Presence shows that this learner's requests are seen at all.
	Presence Presence
}

// Presence is the positive control of an absence: a request that must be seen.
// Without it, code that never ran, or whose requests went elsewhere, would look
// as if it behaved well.
type Presence struct {
	// Match chooses the requests that show it: the zero value takes any. Without a
	// Client of its own it is for the absence's.
	Match proxy.Match
	// Act makes the learner's code send such a request, and the bed waits for it.
	// nil: one must have been sent before.
	Act func()
	// Within is how long the bed waits after Act, stretched by Scale. Default 10 s.
	Within time.Duration
	// Otherwise is the verdict where no such request is seen, if that is the
	// learner's doing. The zero value is for where it can't be: the verdict is
	// "error" then, since the check proves nothing.
	Otherwise Fail
}

const defaultPresence = 10 * time.Second

// NoRequests fails with f if a request that a chooses is sent from now on until
// the window is over. First its presence must be seen, and the API server must
// answer before and after. What was seen are the requests.
func (b *Bed) NoRequests(a Absence, f Fail) {
	b.t.Helper()
	if a.Window <= 0 {
		a.Window = defaultWindow
	}
	b.mustShow(a, proxy.Mark{})
	mark := b.Traffic().Mark()
	b.Stays(a.Window, f, func(context.Context) (bool, string) {
		found := a.find(b.Traffic().Since(mark))
		return len(found) == 0, repeated(found, 0)
	})
	b.mustRun(f.See)
}

// NoRequestsSince fails with f if a request that a chooses has been sent after the
// mark, up to now: by a function of the learner's that has returned, say. Its
// presence must have been seen after the mark too.
func (b *Bed) NoRequestsSince(mark proxy.Mark, a Absence, f Fail) {
	b.t.Helper()
	found := a.find(b.Traffic().Since(mark)) // first: Presence's Act sends more
	if len(found) > 0 {
		f.Seen = lines(f.Seen, repeated(found, 0))
		b.Fail(f)
	}
	b.mustShow(a, mark)
	b.mustAnswer()
}

func (a Absence) find(w *proxy.Window) []proxy.Request {
	found := w.Requests(a.Match)
	if a.Where == nil {
		return found
	}
	var kept []proxy.Request
	for _, r := range found {
		if a.Where(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// mustShow shows that a's requests would be seen, or ends the check. Requests that
// except chooses show nothing.
func (b *Bed) mustShow(a Absence, mark proxy.Mark, except ...proxy.Match) {
	b.t.Helper()
	c := a.Presence
	if c.Match.Client == "" {
		c.Match.Client = a.Match.Client
	}
	if c.Within <= 0 {
		c.Within = defaultPresence
	}
	within := time.Duration(0) // the record is complete: what was sent is in it
	if c.Act != nil {
		mark = b.Traffic().Mark()
		c.Act()
		within = Scale(c.Within)
	}
	seen, _ := b.poll(within, func(ok bool) bool { return ok }, func(context.Context) (bool, string) {
		return len(without(b.Traffic().Since(mark).Requests(c.Match), except)) > 0, ""
	})
	if seen {
		return
	}
	b.mustAnswer()
	if c.Otherwise != (Fail{}) {
		b.Fail(c.Otherwise)
	}
	waited := ""
	if within > 0 {
		waited = fmt.Sprintf(", for %s", round(within))
	}
	b.giveUp(fmt.Errorf("the positive control failed: no request %s was seen%s, so that seeing none of another kind proves nothing", describe(c.Match), waited))
}

// without leaves out what one of the matches chooses.
func without(requests []proxy.Request, except []proxy.Match) []proxy.Request {
	return slices.DeleteFunc(requests, func(r proxy.Request) bool {
		return slices.ContainsFunc(except, func(m proxy.Match) bool { return m.Matches(r) })
	})
}

// describe is a match for an author to read: its fields that say something.
func describe(m proxy.Match) string {
	var said []string
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			said = append(said, fmt.Sprintf("%s %v", v.Type().Field(i).Name, v.Field(i)))
		}
	}
	if len(said) == 0 {
		return "at all"
	}
	return "with " + strings.Join(said, ", ")
}
