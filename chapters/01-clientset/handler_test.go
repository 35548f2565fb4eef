package clientset_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/controllings/controllings/testbed"
)

// requestID is the key of a value that an HTTP server's middleware puts into the
// context of each request.
type requestID struct{}

// handler is one request at an HTTP server, under way until finish.
type handler struct {
	id       string
	started  chan context.Context
	finished chan struct{}
	ended    <-chan struct{}
}

// serve starts an HTTP server and sends it a request.
func serve(b *testbed.Bed) *handler {
	h := &handler{id: "request-4711", started: make(chan context.Context, 1), finished: make(chan struct{})}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	b.Must(err, "listen on a free port")
	server := &http.Server{ReadHeaderTimeout: patient, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.started <- r.Context()
		select {
		case <-h.finished:
		case <-b.Context().Done():
		}
		w.WriteHeader(http.StatusAccepted)
	})}
	go func() { _ = server.Serve(listener) }()
	go func() {
		<-b.Context().Done()
		_ = server.Close()
	}()
	go func() {
		response, err := http.Get("http://" + listener.Addr().String())
		if err == nil {
			response.Body.Close()
		}
	}()
	return h
}

// context is that of the request which the handler serves, with its id.
func (h *handler) context(b *testbed.Bed) context.Context {
	select {
	case ctx := <-h.started:
		h.ended = ctx.Done()
		return context.WithValue(ctx, requestID{}, h.id)
	case <-time.After(testbed.Scale(patient)):
		b.Must(errors.New("the handler was not called"), "send a request to an HTTP server")
		return nil
	}
}

// finish lets the handler return, and waits until that has ended its context.
func (h *handler) finish(b *testbed.Bed) {
	close(h.finished)
	select {
	case <-h.ended:
	case <-time.After(testbed.Scale(patient)):
		b.Must(errors.New("the request's context goes on"), "let an HTTP handler return")
	}
}

// seenContexts are the contexts of the requests that a client sent.
type seenContexts struct {
	mu   sync.Mutex
	seen []context.Context
}

// client is one whose requests' contexts are kept.
func (s *seenContexts) client(b *testbed.Bed) kubernetes.Interface {
	config := b.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			s.mu.Lock()
			s.seen = append(s.seen, r.Context())
			s.mu.Unlock()
			return next.RoundTrip(r)
		})
	})
	client, err := kubernetes.NewForConfig(config)
	b.Must(err, "make a client")
	return client
}

// list returns the contexts. There must be one, or nothing could be said of them.
func (s *seenContexts) list(b *testbed.Bed) []context.Context {
	s.mu.Lock()
	seen := slices.Clone(s.seen)
	s.mu.Unlock()
	if len(seen) == 0 {
		b.Fail(testbed.Fail{
			Expected: "the request to be sent by the client that was handed in",
			Seen:     "that client sent none",
			See:      limitsPart,
		})
	}
	return seen
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
