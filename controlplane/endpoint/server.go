package endpoint

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

// Options of a Server. The zero value is usable.
type Options struct {
	// Timeout bounds each action, from when its turn has come. Default: 1 minute.
	Timeout time.Duration
}

// Server is a running endpoint. Close ends it.
type Server struct {
	path    string
	address string // 127.0.0.1:PORT
	token   string
	actions Actions
	o       Options
	http    *http.Server
	turn    chan struct{} // holds a value while an action is done
	ctx     context.Context
	close   context.CancelCauseFunc
}

var errClosing = &Error{Code: http.StatusServiceUnavailable, Err: errors.New("the control plane is being stopped"), Hint: "start it again: lab cluster up"}

// Serve offers the actions on a free port, and writes the file at path when it
// does.
func Serve(path string, a Actions, o Options) (*Server, error) {
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the control endpoint: %w", err)
	}
	s := &Server{
		path: path, address: l.Addr().String(), token: rand.Text(),
		actions: a, o: o, turn: make(chan struct{}, 1),
	}
	s.ctx, s.close = context.WithCancelCause(context.Background())
	s.http = &http.Server{
		Handler:           s.guard(s.routes()),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
		ErrorLog:          log.New(io.Discard, "", 0), // whoever asked is told
	}
	go func() { _ = s.http.Serve(l) }() // ends with ErrServerClosed
	if err := (File{URL: "http://" + s.address, Token: s.token}).write(path); err != nil {
		s.Close()
		return nil, fmt.Errorf("open the control endpoint: %w", err)
	}
	return s, nil
}

// Close removes the file and cuts off who waits for an action. It does not wait
// for the one that is being done.
func (s *Server) Close() {
	_ = os.Remove(s.path)
	s.close(errClosing)
	_ = s.http.Close()
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/components", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, Answer{Components: s.actions.Components()})
	})
	mux.HandleFunc("POST /v1/components/{name}/{verb}", s.component)
	mux.HandleFunc("POST /v1/compact", func(w http.ResponseWriter, r *http.Request) {
		s.do(w, r, "compact etcd", func(ctx context.Context) (a Answer, err error) {
			a.Revision, err = s.actions.Compact(ctx)
			return a, err
		})
	})
	mux.HandleFunc("POST /v1/nodes", s.addNodes)
	mux.HandleFunc("DELETE /v1/nodes", func(w http.ResponseWriter, r *http.Request) {
		s.do(w, r, "remove nodes", func(ctx context.Context) (a Answer, err error) {
			a.Nodes, err = s.actions.RemoveNodes(ctx, r.URL.Query().Get("by"))
			return a, err
		})
	})
	mux.HandleFunc("POST /v1/restore", func(w http.ResponseWriter, r *http.Request) {
		s.do(w, r, "restore", func(ctx context.Context) (a Answer, err error) {
			a.Did, err = s.actions.Restore(ctx)
			return a, err
		})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, &Error{Code: http.StatusNotFound, Err: fmt.Errorf("no action %s %s", r.Method, r.URL.Path), Hint: "is the program that asks of another version than the cluster? lab cluster up brings them together"})
	})
	return mux
}

func (s *Server) component(w http.ResponseWriter, r *http.Request) {
	name, verb := r.PathValue("name"), r.PathValue("verb")
	act, ok := map[string]func(context.Context, string) error{
		"stop": s.actions.Stop, "start": s.actions.Start, "restart": s.actions.Restart, "kill": s.actions.Kill,
	}[verb]
	if !ok {
		fail(w, &Error{Code: http.StatusNotFound, Err: fmt.Errorf("a component can't be told to %q", verb), Hint: "there are: stop, start, restart, kill"})
		return
	}
	s.do(w, r, fmt.Sprintf("%s %q", verb, name), func(ctx context.Context) (Answer, error) { return Answer{}, act(ctx, name) })
}

func (s *Server) addNodes(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Count int    `json:"count"`
		By    string `json:"by"`
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096))
	d.DisallowUnknownFields()
	switch err := d.Decode(&ask); {
	case err != nil:
		fail(w, &Error{Code: http.StatusBadRequest, Err: fmt.Errorf("read the request: %w", err), Hint: `it is {"count": 3, "by": "check"}`})
		return
	case ask.Count < 1 || ask.Count > MaxNodes:
		fail(w, &Error{Code: http.StatusBadRequest, Err: fmt.Errorf("%d is no number of nodes", ask.Count), Hint: fmt.Sprintf("between 1 and %d", MaxNodes)})
		return
	case ask.By != ByUser && ask.By != ByCheck:
		fail(w, &Error{Code: http.StatusBadRequest, Err: fmt.Errorf("nobody called %q adds nodes", ask.By), Hint: fmt.Sprintf("by is %q or %q", ByUser, ByCheck)})
		return
	}
	s.do(w, r, fmt.Sprintf("add %d nodes", ask.Count), func(ctx context.Context) (a Answer, err error) {
		a.Nodes, err = s.actions.AddNodes(ctx, ask.Count, ask.By)
		return a, err
	})
}

// do does one action when its turn has come.
func (s *Server) do(w http.ResponseWriter, r *http.Request, what string, action func(context.Context) (Answer, error)) {
	ctx := r.Context()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		fail(w, s.cause(ctx))
		return
	}
	if ctx.Err() != nil { // both were so
		fail(w, s.cause(ctx))
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.o.Timeout, &Error{
		Code: http.StatusGatewayTimeout, Err: fmt.Errorf("not done within %s", s.o.Timeout),
		Hint: "see the logs: lab cluster logs; a busy machine may need longer: LAB_START_TIMEOUT=5m when the cluster is started",
	})
	defer cancel()
	log.Printf("control: %s", what)
	a, err := action(ctx)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%s: %w", what, s.cause(ctx))
		}
		log.Printf("control: %s: %v", what, err)
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, a)
}

// cause says why ctx has ended.
func (s *Server) cause(ctx context.Context) error {
	if s.ctx.Err() != nil {
		return errClosing
	}
	return context.Cause(ctx)
}

func fail(w http.ResponseWriter, err error) {
	code, hint := http.StatusInternalServerError, ""
	var known *Error
	if errors.As(err, &known) {
		code, hint = known.Code, known.Hint
	}
	reply(w, code, Answer{Error: err.Error(), Hint: hint})
}

func reply(w http.ResponseWriter, code int, a Answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(a) // whoever asked may be gone
}
