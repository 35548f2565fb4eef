package testbed

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/controllings/controllings/testbed/proxy"
)

// IdleOptions say what rest is. The zero value: no writes for three seconds.
type IdleOptions struct {
	// Window is how long nothing must happen, stretched by Scale. Default 3 s.
	Window time.Duration
	// Settle is how long the last reactions may take before that, such as the
	// reconcile that an own write of the status causes. Stretched by Scale.
	// Default 3 s.
	Settle time.Duration
	// Match chooses the requests that count. Default: all writes.
	Match proxy.Match
	// Except are requests that don't count. The leases of leader election, which
	// are renewed for ever, never do.
	Except []proxy.Match
	// Count, if not nil, is how many times the learner's code has reconciled so
	// far: it must not grow either. A loop that writes nothing shows there alone.
	Count func() int
	// Presence shows that the learner's code runs and is seen. Default: one of the
	// requests that Match chooses must have been sent, since something had to be
	// done before there was nothing to do. Code that had nothing to write wants
	// another, such as its watch.
	Presence Presence
}

const defaultSettle = 3 * time.Second

var leases = proxy.Match{Group: "coordination.k8s.io", Resource: "leases"}

// Idle fails with f unless the learner's code comes to rest: within Settle a
// window must begin in which it writes nothing and doesn't reconcile. What was
// seen are the requests that repeat, how often, and from which line.
//
// The API server must answer before and after, a process of the bed must run, and
// its presence must be seen: a dead controller is quiet too.
func (b *Bed) Idle(o IdleOptions, f Fail) {
	b.t.Helper()
	o = o.withDefaults()
	b.mustAnswer()
	b.mustShow(Absence{Match: o.Match, Presence: o.Presence}, proxy.Mark{}, o.Except...)
	b.mustRun(f.See)

	window := Scale(o.Window)
	w := newQuiet(o, b.Traffic(), time.Now())
	b.poll(Scale(o.Settle)+maxWindows*window, func(done bool) bool { return done }, func(context.Context) (bool, string) {
		now := time.Now()
		w.look(now)
		return now.Sub(w.from) >= window, ""
	})
	b.mustAnswer()
	b.mustRun(f.See)
	if w.broken {
		f.Seen = lines(f.Seen, w.report(time.Now()))
		b.Fail(f)
	}
}

// maxWindows bounds the wait on a machine that hardly gets to look. Two would do.
const maxWindows = 10

func (o IdleOptions) withDefaults() IdleOptions {
	if o.Window <= 0 {
		o.Window = defaultWindow
	}
	if o.Settle <= 0 {
		o.Settle = defaultSettle
	}
	if reflect.ValueOf(o.Match).IsZero() {
		o.Match.Verb = proxy.Write
	}
	if reflect.ValueOf(o.Presence.Match).IsZero() && o.Presence.Act == nil {
		o.Presence.Match = o.Match
	}
	o.Except = append(slices.Clone(o.Except), leases)
	return o
}

// quiet looks for a stretch in which nothing happens.
type quiet struct {
	o       IdleOptions
	traffic *proxy.Traffic
	settled time.Time // what happens later is no last reaction
	looked  time.Time // when last; what is seen now happened since

	from   time.Time  // when the stretch began, and what is counted from
	mark   proxy.Mark // the same in the record
	seen   int        // requests since then
	first  int        // the reconciles then
	count  int        // and when last looked at
	broken bool       // something has happened in it
}

func newQuiet(o IdleOptions, traffic *proxy.Traffic, now time.Time) *quiet {
	w := &quiet{o: o, traffic: traffic, settled: now.Add(Scale(o.Settle)), looked: now, from: now, mark: traffic.Mark()}
	if o.Count != nil {
		w.count = o.Count()
		w.first = w.count
	}
	return w
}

// look notes whether something has happened. What may have happened while things
// settled is forgiven, and the stretch begins anew; what comes later breaks it.
func (w *quiet) look(now time.Time) {
	next, busy := w.traffic.Mark(), false
	if n := len(w.requests()); n != w.seen {
		w.seen, busy = n, true
	}
	if w.o.Count != nil {
		if n := w.o.Count(); n != w.count {
			w.count, busy = n, true
		}
	}
	settling := !w.broken && w.looked.Before(w.settled)
	w.looked = now
	switch {
	case busy && settling:
		w.from, w.mark, w.first = now, next, w.count
		w.seen = len(w.requests()) // what came between the mark and here
	case busy:
		w.broken = true
	}
}

func (w *quiet) requests() []proxy.Request {
	return without(w.traffic.Since(w.mark).Requests(w.o.Match), w.o.Except)
}

func (w *quiet) report(now time.Time) string {
	took := now.Sub(w.from)
	requests := w.requests()
	var seen []string
	if len(requests) > 0 {
		seen = append(seen,
			fmt.Sprintf("%s in %s, with nothing left to do:", plural(len(requests), "request"), round(took)),
			repeated(requests, took))
	}
	if n := w.count - w.first; n > 0 {
		seen = append(seen, fmt.Sprintf("%s in %s (%s)", plural(n, "reconcile"), round(took), rate(n, took)))
	}
	return strings.Join(seen, "\n")
}

// maxRepeated is how many kinds of requests a failure shows.
const maxRepeated = 6

// repeated shows requests, those that are alike as one line, the most frequent
// first; with their rate if they were sent within a time that is known:
//
//	PUT /apis/…/webapps/a/status   ×9, 3.0 a second  webapp.go:41
func repeated(requests []proxy.Request, within time.Duration) string {
	kinds := map[string]int{}
	for _, r := range requests {
		kinds[kindOf(r)]++
	}
	order := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
		if d := kinds[b] - kinds[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var shown []string
	for i, kind := range order {
		if i == maxRepeated {
			shown = append(shown, fmt.Sprintf("… and %d of other kinds", len(order)-i))
			break
		}
		uri, from, _ := strings.Cut(kind, "\n")
		line := fmt.Sprintf("%s   ×%d", uri, kinds[kind])
		if within > 0 {
			line += ", " + rate(kinds[kind], within)
		}
		shown = append(shown, line+from)
	}
	return strings.Join(shown, "\n")
}

// kindOf is what makes requests alike: what they ask, and who asks. The two are
// parted by a line's end.
func kindOf(r proxy.Request) string {
	s := r.URI() + "\n"
	if r.Client != "" {
		s += "  from " + r.Client
	}
	if r.Caller != "" {
		s += "  " + path.Base(filepath.ToSlash(r.Caller))
	}
	return s
}

func rate(n int, within time.Duration) string {
	return fmt.Sprintf("%.1f a second", float64(n)/within.Seconds())
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
