package proxy

import (
	"io"
	"net/http"
)

// spoil does to a request what the rule says that it has met, and reports whether
// the request goes on to the API server. Where the client must get no answer at
// all, it ends the handler by a panic.
func (p *Proxy) spoil(w http.ResponseWriter, r *http.Request, rec *record, h *Handle) bool {
	rule := h.rule
	if rule.Before != nil {
		rule.Before()
	}
	if rule.Latency > 0 {
		rec.late("held " + rule.Latency.String() + " by the check")
	}
	if !rule.wait(r.Context()) {
		rec.failed(rec.conn.ended())
		return false
	}
	switch {
	case rule.Status != 0:
		readForRecord(r)
		rec.locked(func() { rec.Fault = true })
		rec.refuse(w, rule.answer(rec.Request))
		return false
	case rule.DropAnswer:
		p.dropAnswer(r, rec)
	case rec.stream != nil && rule.inStream(): // it has met the rule, and goes on
		return true
	case rule.Drop:
		readForRecord(r)
		p.drop(rec)
	case rule.Blackhole:
		p.blackhole(r, rec, h)
	case rule.Hold:
		if !h.hold(r, rec) {
			rec.failed(rec.conn.ended())
			return false
		}
	}
	return true
}

// readForRecord reads what a write sends and nobody else is going to read.
func readForRecord(r *http.Request) { _, _ = io.CopyN(io.Discard, r.Body, maxBody+1) }

// drop closes the connection.
func (p *Proxy) drop(rec *record) {
	rec.spoiled(dropped)
	rec.conn.cut(dropped)
	panic(http.ErrAbortHandler)
}

// dropAnswer closes the connection when the API server has answered.
func (p *Proxy) dropAnswer(r *http.Request, rec *record) {
	p.pass(nowhere{}, r, rec)
	rec.spoiled("answer dropped by the check")
	rec.conn.cut(dropped)
	panic(http.ErrAbortHandler)
}

// blackhole makes the connection dark, and ends with it.
func (p *Proxy) blackhole(r *http.Request, rec *record, h *Handle) {
	rec.spoiled(darkened)
	h.faults.mu.Lock()
	h.darken(rec.conn)
	late := h.isRemoved()
	h.faults.mu.Unlock()
	if late { // nobody else is going to close it
		rec.conn.cut(darkened)
	}
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// hold waits until the rule is removed; it reports false if the client doesn't.
func (h *Handle) hold(r *http.Request, rec *record) bool {
	rec.late("held by the check")
	h.count(+1)
	defer h.count(-1)
	select {
	case <-h.removed:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (h *Handle) count(n int) {
	h.faults.mu.Lock()
	defer h.faults.mu.Unlock()
	h.waiting += n
}

// nowhere is where an answer goes that is dropped.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) WriteHeader(int)             {}
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
