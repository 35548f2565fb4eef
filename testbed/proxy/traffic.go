package proxy

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Bounds of what is kept of the bodies of writes, in bytes.
const (
	maxBody   = 64 << 10 // of one request
	maxBodies = 64 << 20 // of all requests of a bed
)

// Traffic is the record of the requests that went through a proxy, in the order
// in which they began. A request is in it from its start on, before the API
// server has answered: a watch counts while it is open. All methods are safe for
// use by several goroutines, and what they return is a copy.
type Traffic struct {
	mu     sync.Mutex
	all    []*record
	bodies int // bytes kept
}

// Mark is a moment in the record: see Traffic.Since.
type Mark struct{ n int }

// Window is the part of a record that began after a mark.
type Window struct {
	traffic *Traffic
	from    int
}

// Requests returns the requests that m chooses, the oldest first.
func (t *Traffic) Requests(m Match) []Request { return t.since(0, m) }

// Count returns how many requests m chooses.
func (t *Traffic) Count(m Match) int { return t.count(0, m) }

// Mark remembers this moment.
func (t *Traffic) Mark() Mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Mark{len(t.all)}
}

// Since is the record of what began after the mark. It goes on growing. A watch
// that was opened before the mark is not in it.
func (t *Traffic) Since(mark Mark) *Window { return &Window{t, mark.n} }

// Requests returns those of the window's requests that m chooses.
func (w *Window) Requests(m Match) []Request { return w.traffic.since(w.from, m) }

// Count returns how many of the window's requests m chooses.
func (w *Window) Count(m Match) int { return w.traffic.count(w.from, m) }

func (t *Traffic) since(from int, m Match) []Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	var got []Request
	for _, r := range t.all[from:] {
		if m.Matches(r.Request) {
			got = append(got, r.copy())
		}
	}
	return got
}

func (t *Traffic) count(from int, m Match) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, r := range t.all[from:] {
		if m.Matches(r.Request) {
			n++
		}
	}
	return n
}

// record is a request in the making. The traffic's lock guards it: the handler,
// the transport that sends the body, and a check that looks are three goroutines.
type record struct {
	Request
	traffic *Traffic
	conn    *conn   // on which it came
	stream  *stream // of a watch
}

// Describe tells what a request is about, as the record would: all that is known
// before it is sent.
func Describe(r *http.Request) Request {
	query := r.URL.Query()
	a := classify(r.Method, r.URL.Path, query)
	return Request{
		Verb: a.verb, Group: a.group, Version: a.version,
		Resource: a.resource, Subresource: a.subresource,
		Namespace: a.namespace, Name: a.name,
		Method: r.Method, Path: r.URL.Path, Query: query,
		UserAgent:   r.UserAgent(),
		ContentType: r.Header.Get("Content-Type"),
		Caller:      r.Header.Get(CallerHeader),
	}
}

func (t *Traffic) begin(r *http.Request, client string) *record {
	rec := &record{traffic: t, Request: Describe(r), conn: connOf(r.Context())}
	rec.Client = client
	t.mu.Lock()
	defer t.mu.Unlock()
	rec.Start = time.Now() // under the lock: the record is in this order
	t.all = append(t.all, rec)
	return rec
}

// copy is called with the lock held.
func (r *record) copy() Request {
	c := r.Request
	c.Body = bytes.Clone(r.Body)
	c.Query = make(url.Values, len(r.Query))
	for k, v := range r.Query {
		c.Query[k] = slices.Clone(v)
	}
	if !c.Done {
		c.Duration = time.Since(c.Start)
	}
	return c
}

// locked changes the record.
func (r *record) locked(change func()) {
	r.traffic.mu.Lock()
	defer r.traffic.mu.Unlock()
	change()
}

func (r *record) end() {
	r.locked(func() { r.Done, r.Duration = true, time.Since(r.Start) })
}

// failed notes why the request ended early; the first reason stays.
func (r *record) failed(why string) {
	r.locked(func() {
		if r.Err == "" {
			r.Err = why
		}
	})
}

// spoiled notes what a rule did to the answer.
func (r *record) spoiled(how string) {
	r.failed(how)
	r.locked(func() { r.Fault = true })
}

// late notes that a rule keeps the request or its answer waiting.
func (r *record) late(how string) {
	r.locked(func() { r.Late = how })
}

// carried returns the connections, each once, on which requests came that m
// chooses.
func (t *Traffic) carried(m Match) []*conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	var conns []*conn
	for _, r := range t.all {
		if r.conn != nil && m.Matches(r.Request) && !slices.Contains(conns, r.conn) {
			conns = append(conns, r.conn)
		}
	}
	return conns
}

// requestBody keeps a bounded copy of what a write sends, as it is sent.
func (r *record) requestBody(body io.ReadCloser) io.ReadCloser {
	return &tap{body, func(p []byte) {
		r.locked(func() {
			keep := min(len(p), maxBody-len(r.Body), maxBodies-r.traffic.bodies)
			r.Body = append(r.Body, p[:keep]...)
			r.traffic.bodies += keep
			r.BodyCut = r.BodyCut || keep < len(p)
		})
	}}
}

// responseBody counts the answer's bytes before they are passed on: whoever has
// read the answer finds them counted.
func (r *record) responseBody(body io.ReadCloser) io.ReadCloser {
	return &tap{body, func(p []byte) {
		r.locked(func() { r.Bytes += int64(len(p)) })
	}}
}

// tap shows what is read from a body.
type tap struct {
	io.ReadCloser
	saw func([]byte)
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if n > 0 {
		t.saw(p[:n])
	}
	return n, err
}
