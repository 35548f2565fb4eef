package proxy

import (
	"slices"
	"sync"
)

// Faults are the rules of a proxy.
type Faults struct {
	mu      sync.Mutex // guards all of this, the handles, and the watches' rules
	rules   []*Handle
	watches []*stream // under way, the oldest first
	// carried finds the connections on which requests of a kind have come.
	carried func(Match) []*conn
}

// Handle is a rule in force.
type Handle struct {
	faults  *Faults
	rule    Rule
	seen    int // matching requests, those let through by After too
	taken   int // those of Times that are given away
	hits    int
	waiting int     // requests held back
	dark    []*conn // by Blackhole
	removed chan struct{}
}

// Add puts a rule in force; see Rule for what it does to watches that are open.
// It panics if the rule does nothing at all or contradicts itself, since a check
// that waits for such a fault would wait for ever.
func (f *Faults) Add(rule Rule) *Handle {
	if wrong := rule.check(); wrong != "" {
		panic("proxy: a fault rule that can't be: " + wrong)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h := &Handle{faults: f, rule: rule, removed: make(chan struct{})}
	f.rules = append(f.rules, h)
	if rule.onOpen() {
		for _, s := range f.watches {
			if !s.over && h.takes(s.about) {
				s.meet(h)
			}
		}
	}
	if rule.cutsOff() && f.carried != nil {
		for _, c := range f.carried(rule.Match) {
			h.darken(c)
		}
	}
	return h
}

// Remove ends the rule: what Hold or Delay kept back goes on, and connections
// that Blackhole made dark are closed. Requests that are waiting out a Latency go
// on waiting. A second Remove does nothing.
func (h *Handle) Remove() {
	f := h.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	if h.isRemoved() {
		return
	}
	close(h.removed)
	f.rules = slices.DeleteFunc(f.rules, func(o *Handle) bool { return o == h })
	for _, s := range f.watches {
		s.leave(h)
	}
	for _, c := range h.dark {
		c.cut(darkened)
	}
	h.dark = nil
}

// isRemoved is called with the lock held.
func (h *Handle) isRemoved() bool {
	select {
	case <-h.removed:
		return true
	default:
		return false
	}
}

// Hits returns how many requests met the fault; a watch counts from the moment at
// which its fault began.
func (h *Handle) Hits() int {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	return h.hits
}

// Held returns how much Hold or Delay keeps back at the moment: the events of
// watches, without bookmarks, and other requests. An event in it has been sent by
// the API server.
func (h *Handle) Held() int {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	n := h.waiting
	for _, s := range h.faults.watches {
		n += s.heldBy(h)
	}
	return n
}

// takes reports whether r meets the fault, and uses the rule once if so. It is
// called with the lock held, as is darken.
func (h *Handle) takes(r Request) bool {
	if h.rule.Times > 0 && h.taken >= h.rule.Times || !h.rule.reaches(r) || !h.rule.Match.Matches(r) {
		return false
	}
	if h.seen++; h.seen <= h.rule.After {
		return false
	}
	h.taken++
	return true
}

func (h *Handle) darken(c *conn) {
	if !h.isRemoved() && c.darken() {
		h.dark = append(h.dark, c)
	}
}

// begin finds the rule that a request meets, or nil. A watch is known from here
// on, so that no rule is added between its beginning and its first event.
func (f *Faults) begin(rec *record) *Handle {
	f.mu.Lock()
	defer f.mu.Unlock()
	about := rec.Request // nobody changes it yet
	if about.Verb == "watch" {
		rec.stream = newStream(f, rec, about)
		f.watches = append(f.watches, rec.stream)
	}
	for _, h := range f.rules {
		if !h.takes(about) {
			continue
		}
		if rec.stream != nil && h.rule.inStream() {
			rec.stream.meet(h)
		} else {
			h.hits++
		}
		return h
	}
	return nil
}

// end forgets a watch. Its share in the Times of a fault that never began is
// given back.
func (f *Faults) end(s *stream) {
	if s == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches = slices.DeleteFunc(f.watches, func(o *stream) bool { return o == s })
	for _, m := range s.rules {
		if !m.acted {
			m.handle.taken--
		}
	}
}
