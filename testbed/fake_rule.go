package testbed

import (
	"context"
	"slices"
	"time"
)

// ExternalRule says which calls of an External meet a fault, and which one. Its
// fields are those of proxy.Rule as far as they can be.
type ExternalRule struct {
	// Key, Method and Client choose the calls; "" is any.
	Key, Method, Client string

	// Status answers with this HTTP status, and nothing is done. 0 lets the call
	// through.
	Status int
	// Message is the error's text; "" takes a plain one.
	Message string
	// RetryAfter sends the header Retry-After with a Status, in whole seconds
	// rounded up. 0 sends none.
	RetryAfter time.Duration

	// Latency is waited before anything is done, or before Status answers. A caller
	// that gives up meanwhile has asked for nothing.
	Latency time.Duration
	// Hang is a Latency without end: until the caller gives up, or until
	// Handle.Remove, after which the call goes on as if there were no rule.
	Hang bool

	// Before is run when the call has arrived, and Done when its work is done but
	// the caller doesn't know yet: a kill -9 between the two halves of a reconcile.
	// Neither may call the service through the learner's code. nil does nothing.
	Before, Done func()
	// Lose loses the answer: the work is done, and the connection breaks.
	Lose bool

	// After lets so many matching calls through first.
	After int
	// Times is how many calls meet the fault; 0 is all, until Handle.Remove.
	Times int
}

// ExternalHandle is a rule in force.
type ExternalHandle struct {
	external *External
	rule     ExternalRule
	removed  chan struct{}
	seen     int // matching calls, those let through by After too
	hits     int
}

// Add puts a rule in force. A call meets the first rule, in the order in which
// they were added, that matches it and is not used up. Add panics if the rule does
// nothing, or two things that exclude each other.
func (e *External) Add(rule ExternalRule) *ExternalHandle {
	switch {
	case rule.Status == 0 && rule.Latency <= 0 && !rule.Hang && rule.Before == nil && rule.Done == nil && !rule.Lose:
		panic("testbed: a rule with neither Status nor Latency, Hang, Before, Done or Lose does nothing")
	case rule.Status != 0 && (rule.Lose || rule.Done != nil):
		panic("testbed: a rule with a Status does no work, so there is no Done and nothing to Lose")
	case rule.Status == 0 && (rule.RetryAfter > 0 || rule.Message != ""):
		panic("testbed: RetryAfter and Message are a Status's")
	case rule.Hang && (rule.Latency > 0 || rule.Status != 0 || rule.Lose || rule.Done != nil):
		panic("testbed: a rule that lets calls Hang does nothing else after that")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	h := &ExternalHandle{external: e, rule: rule, removed: make(chan struct{})}
	e.rules = append(e.rules, h)
	return h
}

// Remove ends the rule. Calls that Hang go on; those that wait out a Latency wait
// on. It may be called more than once.
func (h *ExternalHandle) Remove() {
	h.external.mu.Lock()
	defer h.external.mu.Unlock()
	if i := slices.Index(h.external.rules, h); i >= 0 {
		h.external.rules = slices.Delete(h.external.rules, i, i+1)
		close(h.removed)
	}
}

// Hits returns how many calls met the fault.
func (h *ExternalHandle) Hits() int {
	h.external.mu.Lock()
	defer h.external.mu.Unlock()
	return h.hits
}

// take finds the rule that a call meets, and uses it once. nil: none.
func (e *External) take(c Call) *ExternalHandle {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.rules {
		r := h.rule
		if r.Times > 0 && h.hits >= r.Times ||
			r.Key != "" && r.Key != c.Key || r.Method != "" && r.Method != c.Method || r.Client != "" && r.Client != c.Client {
			continue
		}
		if h.seen++; h.seen <= r.After {
			continue
		}
		h.hits++
		return h
	}
	return nil
}

// wait holds a call up, and reports false if the caller gave up first.
func (h *ExternalHandle) wait(ctx context.Context) bool {
	if h.rule.Hang {
		select {
		case <-h.removed:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if h.rule.Latency <= 0 {
		return true
	}
	timer := time.NewTimer(h.rule.Latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
