package testbed

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// External is a service outside the cluster that a controller works with: a cloud
// with load balancers, say. It keeps objects, counts what is asked of it, and
// fails when the check wants it to. Make one with Bed.External.
//
// It speaks HTTP and JSON on loopback, at URL. A key is any path, such as
// "default/web":
//
//	POST   /objects/KEY  makes one more object: 201 and the object
//	PUT    /objects/KEY  makes the key's object, or replaces what it holds: 201 or 200
//	GET    /objects/KEY  the key's objects, as a list: 200, or 404 if there is none
//	GET    /objects      all objects
//	DELETE /objects/KEY  removes the key's objects: 204, or 404 if there is none
//
// An object is {"id":"…","key":"…","body":…}, the body being the JSON that was
// sent. A POST that is repeated makes a second object, as with most services; one
// with the header Idempotency-Key makes none where that header's value has made
// one: 200 and the same object, or 422 if key or body differ. An error is
// {"error":"…"}.
//
// Connections aren't kept: Go's HTTP client repeats a request by itself when one
// that was kept breaks, and a lost answer would then be no loss.
type External struct {
	url     string
	server  *http.Server
	cancel  context.CancelFunc
	serving sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	calls   []*Call
	objects []ExternalObject    // in the order in which they were made
	made    map[string]creation // by idempotency key
	ids     int
	rules   []*ExternalHandle
}

// ExternalObject is what an External keeps.
type ExternalObject struct {
	ID   string `json:"id"` // "obj-1", in the order in which they were made
	Key  string `json:"key"`
	Body any    `json:"body"` // as encoding/json gives it; nil for an empty one
}

// Call is one request to an External.
type Call struct {
	// Method is the HTTP method, and Key what stands behind /objects/, or "".
	Method, Key string
	// Client is the name that URLOf was given, or "".
	Client string
	// IdempotencyKey is the header's value, or "".
	IdempotencyKey string
	// Body is what was sent, at most 64 KiB of it.
	Body  string
	Start time.Time
	// Duration is how long the answer took; while Done is false, the time until now.
	Duration time.Duration
	Done     bool
	// Status is the HTTP status of the answer; 0 if there was none.
	Status int
	// Worked says that the service did what was asked, whether or not the caller
	// learned of it.
	Worked bool
	// Fault says that a rule of the check had a hand in it.
	Fault bool
}

// String shows the call on one line: "POST /objects/a   201  from b".
func (c Call) String() string {
	s := fmt.Sprintf("%s /objects/%s   ", c.Method, c.Key)
	switch {
	case c.Status != 0:
		s += fmt.Sprint(c.Status)
	case c.Done:
		s += "no answer"
	default:
		s += "no answer yet"
	}
	if c.Status == 0 && c.Worked {
		s += ", though it was done"
	}
	if c.Fault {
		s += "  put in by the check"
	}
	if c.Client != "" {
		s += "  from " + c.Client
	}
	if c.IdempotencyKey != "" {
		s += "  Idempotency-Key " + c.IdempotencyKey
	}
	return s
}

// External starts a service. It ends with the check.
func (b *Bed) External() *External {
	b.t.Helper()
	e, err := startExternal()
	b.Must(err, "start an external service")
	b.t.Cleanup(e.close)
	b.processesMu.Lock()
	b.externals = append(b.externals, e)
	b.processesMu.Unlock()
	return e
}

func startExternal() (*External, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &External{url: "http://" + listener.Addr().String(), cancel: cancel, made: map[string]creation{}}
	e.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !e.enter() {
				panic(http.ErrAbortHandler)
			}
			defer e.serving.Done()
			e.serve(w, r)
		}),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	e.server.SetKeepAlivesEnabled(false)
	e.serving.Go(func() { _ = e.server.Serve(listener) }) // ends with ErrServerClosed
	return e, nil
}

// enter counts a call in; it reports false once the service is closed.
func (e *External) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.serving.Add(1)
	}
	return !e.closed
}

// close cuts all connections and waits for the calls under way.
func (e *External) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	_ = e.server.Close()
	e.serving.Wait()
}

// URL is where the service is: "http://127.0.0.1:…", without a slash at the end.
func (e *External) URL() string { return e.url }

// URLOf is the same service for one caller of several: its calls bear the name.
// Give each process its own.
func (e *External) URLOf(client string) string { return e.url + "/as/" + client }

// Calls returns the calls for a key, the oldest first; of all keys for "". A call
// is there from its start on.
func (e *External) Calls(key string) []Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	var got []Call
	for _, c := range e.calls {
		if key == "" || c.Key == key {
			call := *c
			if !call.Done {
				call.Duration = time.Since(call.Start)
			}
			got = append(got, call)
		}
	}
	return got
}

// Objects returns the objects of a key, in the order in which they were made; all
// objects for "". More than one of a key is what a repeated POST has done.
func (e *External) Objects(key string) []ExternalObject {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.objectsOf(key)
}

func (e *External) objectsOf(key string) []ExternalObject {
	var got []ExternalObject
	for _, o := range e.objects {
		if key == "" || o.Key == key {
			got = append(got, o)
		}
	}
	return got
}

// Repeated returns, for each idempotency key that came more than once with calls
// for a key, how many times it came. "" looks at all keys.
func (e *External) Repeated(key string) map[string]int {
	counts := map[string]int{}
	for _, c := range e.Calls(key) {
		if c.IdempotencyKey != "" {
			counts[c.IdempotencyKey]++
		}
	}
	for k, n := range counts {
		if n == 1 {
			delete(counts, k)
		}
	}
	return counts
}

// Put lays out an object, unrecorded, and Remove takes a key's objects away, as
// somebody would who works with the service by hand.
func (e *External) Put(key string, body any) ExternalObject {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.add(key, body)
}

// Remove takes a key's objects away and returns how many there were: see Put.
func (e *External) Remove(key string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.remove(key)
}

func (e *External) add(key string, body any) ExternalObject {
	e.ids++
	o := ExternalObject{ID: fmt.Sprintf("obj-%d", e.ids), Key: key, Body: body}
	e.objects = append(e.objects, o)
	return o
}

func (e *External) remove(key string) int {
	before := len(e.objects)
	e.objects = slices.DeleteFunc(e.objects, func(o ExternalObject) bool { return o.Key == key })
	return before - len(e.objects)
}

// externalCalls is what a failure shows of the services: the last calls.
func (b *Bed) externalCalls() string {
	b.processesMu.Lock()
	all := slices.Clone(b.externals)
	b.processesMu.Unlock()
	var shown []string
	for _, e := range all {
		calls := e.Calls("")
		if s := recentLines(len(calls), func(i int) string { return calls[i].String() }); s != "" {
			shown = append(shown, s)
		}
	}
	return strings.Join(shown, "\n")
}
