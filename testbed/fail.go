package testbed

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/controllings/controllings/testbed/proxy"
)

// Fail says what is wrong, to the learner.
type Fail struct {
	// Expected is what should have been: "0 GET requests".
	Expected string
	// Seen is what was: "214 GET requests". The recent requests are put below
	// it. Numbers, objects and requests help; guesses and blame don't.
	Seen string
	// See is where to read on, a part of the chapter's lesson: "README.md#listers".
	See string
}

// Fail reports f and ends the check.
//
// On another goroutine than the test's own it reports f, ends that goroutine (as
// t.FailNow would), and the check ends when it next asks the bed for something
// that waits, or returns.
func (b *Bed) Fail(f Fail) {
	b.t.Helper()
	if f.See == "" {
		f.See = "README.md" // a place, always
	}
	f = b.tell(f)
	b.t.Errorf("\n%s", f)
	b.end()
}

// tell reports f, with the recent requests and the processes' last words below
// what was seen, and returns it so.
func (b *Bed) tell(f Fail) Fail {
	requests := b.proxy.Traffic().Requests(proxy.Match{})
	f.Seen = lines(f.Seen, recent(requests), b.externalCalls(), b.processStates())
	file, line := place(requests)
	b.report.failure(f, file, line)
	return f
}

// NoError fails with f if err is not nil. What was seen is the error.
func (b *Bed) NoError(err error, f Fail) {
	b.t.Helper()
	if err != nil {
		f.Seen = lines(f.Seen, fmt.Sprintf("error: %v", err))
		b.Fail(f)
	}
}

// String is the failure as a learner reads it.
func (f Fail) String() string {
	var s strings.Builder
	for _, part := range []struct{ name, text string }{
		{"expected", f.Expected},
		{"seen", f.Seen},
		{"where", f.See},
	} {
		const width = 11
		text := strings.ReplaceAll(strings.TrimRight(part.text, "\n"), "\n", "\n"+strings.Repeat(" ", width))
		fmt.Fprintf(&s, "%-*s%s\n", width, part.name, text)
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// giveUp ends the check without a verdict on the learner's code.
func (b *Bed) giveUp(err error) {
	b.t.Helper()
	b.report.error(err)
	b.t.Error(err)
	b.end()
}

// end ends the goroutine, and the test if it is the test's own.
func (b *Bed) end() {
	if goroutineID() == b.goroutine {
		b.t.FailNow()
	}
	runtime.Goexit()
}

// checkFailed ends the test if it failed on another goroutine.
func (b *Bed) checkFailed() {
	select {
	case <-b.report.failed:
		b.end()
	default:
	}
}

// goroutineID names the running goroutine. Go keeps that number to itself on
// purpose; here it only chooses between two right ways to end.
func goroutineID() string {
	var buf [64]byte
	head := string(buf[:runtime.Stack(buf[:], false)]) // "goroutine 7 [running]:…"
	id, _, _ := strings.Cut(strings.TrimPrefix(head, "goroutine "), " ")
	return id
}

// recentRequests is how many lines of traffic a failure shows.
const recentRequests = 6

// recent shows the last requests, those that repeat as one line.
func recent(requests []proxy.Request) string {
	return recentLines(len(requests), func(i int) string { return requests[i].String() })
}

// recentLines shows the last of n lines.
func recentLines(n int, text func(i int) string) string {
	var shown []string
	end := n
	for end > 0 && len(shown) < recentRequests {
		line, n := text(end-1), 0
		for end > 0 && text(end-1) == line {
			end, n = end-1, n+1
		}
		if n > 1 {
			line += fmt.Sprintf("   ×%d", n)
		}
		shown = append(shown, line)
	}
	if end > 0 {
		shown = append(shown, fmt.Sprintf("… and %d before", end))
	}
	slices.Reverse(shown)
	return strings.Join(shown, "\n")
}

// lines joins what is not empty.
func lines(parts ...string) string {
	var got []string
	for _, p := range parts {
		if p != "" {
			got = append(got, p)
		}
	}
	return strings.Join(got, "\n")
}
