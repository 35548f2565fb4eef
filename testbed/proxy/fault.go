package proxy

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rule says which requests meet a fault, and which one.
type Rule struct {
	// Match chooses the requests.
	Match Match

	// Status answers in the API server's place, with this HTTP status and a
	// metav1.Status as the body. The request doesn't reach the API server.
	// 0 lets it through.
	Status int
	// Reason is what apierrors.ReasonForError will find; "" takes the one that
	// the API server uses with this status: AlreadyExists for the 409 of a
	// create, Conflict for any other 409, Expired for 410, and so on.
	Reason metav1.StatusReason
	// Message is the error's text; "" takes a plain one.
	Message string
	// RetryAfter asks the client to come again after this time, in whole
	// seconds rounded up (the header knows no less). client-go's own clients do
	// so by themselves, up to ten times. 0 sends no such header.
	RetryAfter time.Duration

	// Latency is waited before the request goes on to the API server, or before
	// Status answers.
	Latency time.Duration

	// Before is run when the request has arrived, before it goes on to the API
	// server or Status answers. What it does has happened when the learner's
	// request does: a foreign actor that writes between a read and a write.
	// Its own requests must not go through this proxy. nil does nothing.
	Before func()

	// After lets so many matching requests through first.
	After int
	// Times is how many requests meet the fault; 0 is all, until Handle.Remove.
	Times int
}

// Faults are the rules of a proxy. A request meets the first rule, in the order
// in which they were added, that matches it and is not used up.
type Faults struct {
	mu    sync.Mutex
	rules []*Handle
}

// Handle is a rule in force.
type Handle struct {
	faults *Faults
	rule   Rule
	seen   int // matching requests, those let through by After too
	hits   int
}

// Add puts a rule in force. It panics if the rule does nothing at all, since a
// check that waits for such a fault would wait for ever.
func (f *Faults) Add(rule Rule) *Handle {
	if rule.Status == 0 && rule.Latency <= 0 && rule.Before == nil {
		panic("proxy: a fault rule with neither Status nor Latency nor Before does nothing")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h := &Handle{faults: f, rule: rule}
	f.rules = append(f.rules, h)
	return h
}

// Remove ends the rule. Requests that are waiting out its Latency go on waiting.
func (h *Handle) Remove() {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	h.faults.rules = slices.DeleteFunc(h.faults.rules, func(o *Handle) bool { return o == h })
}

// Hits returns how many requests met the fault.
func (h *Handle) Hits() int {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	return h.hits
}

// take finds the rule that r meets, and uses it once.
func (f *Faults) take(r Request) (Rule, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range f.rules {
		if h.rule.Times > 0 && h.hits >= h.rule.Times || !h.rule.Match.Matches(r) {
			continue
		}
		if h.seen++; h.seen <= h.rule.After {
			continue
		}
		h.hits++
		return h.rule, true
	}
	return Rule{}, false
}

// wait waits out the rule's latency, and reports false if ctx ends first.
func (r Rule) wait(ctx context.Context) bool {
	if r.Latency <= 0 {
		return true
	}
	timer := time.NewTimer(r.Latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// answer is the error that the rule puts in place of an answer.
func (r Rule) answer(req Request) *metav1.Status {
	s := &metav1.Status{
		Code:    int32(r.Status),
		Reason:  r.Reason,
		Message: r.Message,
		Details: &metav1.StatusDetails{Group: req.Group, Kind: req.Resource, Name: req.Name},
	}
	if s.Reason == "" {
		s.Reason = reasons[r.Status]
		if r.Status == http.StatusConflict && req.Verb == "create" {
			s.Reason = metav1.StatusReasonAlreadyExists
		}
	}
	if s.Message == "" {
		s.Message = "the check put this answer in: " + http.StatusText(r.Status)
	}
	if r.RetryAfter > 0 {
		s.Details.RetryAfterSeconds = int32((r.RetryAfter + time.Second - 1) / time.Second)
	}
	return s
}

// reasons are those that the API server gives with a status.
var reasons = map[int]metav1.StatusReason{
	http.StatusBadRequest:            metav1.StatusReasonBadRequest,
	http.StatusUnauthorized:          metav1.StatusReasonUnauthorized,
	http.StatusForbidden:             metav1.StatusReasonForbidden,
	http.StatusNotFound:              metav1.StatusReasonNotFound,
	http.StatusMethodNotAllowed:      metav1.StatusReasonMethodNotAllowed,
	http.StatusNotAcceptable:         metav1.StatusReasonNotAcceptable,
	http.StatusConflict:              metav1.StatusReasonConflict,
	http.StatusGone:                  metav1.StatusReasonExpired,
	http.StatusRequestEntityTooLarge: metav1.StatusReasonRequestEntityTooLarge,
	http.StatusUnsupportedMediaType:  metav1.StatusReasonUnsupportedMediaType,
	http.StatusUnprocessableEntity:   metav1.StatusReasonInvalid,
	http.StatusTooManyRequests:       metav1.StatusReasonTooManyRequests,
	http.StatusInternalServerError:   metav1.StatusReasonInternalError,
	http.StatusServiceUnavailable:    metav1.StatusReasonServiceUnavailable,
	http.StatusGatewayTimeout:        metav1.StatusReasonTimeout,
}
