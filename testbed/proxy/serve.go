package proxy

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// CallerHeader may tell, on a request to the proxy, which line of the learner's
// code sent it. It goes into Request.Caller and no further.
const CallerHeader = "Testbed-Caller"

type recordKey struct{}

// ServeHTTP records a request, and lets it through to the API server unless it
// lacks the token or a rule says otherwise.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.serving.Done()
	client, known := p.clients.of(r)
	rec := p.traffic.begin(r, client)
	defer rec.end()
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = rec.requestBody(r.Body)
	}

	if !known {
		rec.refuse(w, &metav1.Status{
			Code: http.StatusUnauthorized, Reason: metav1.StatusReasonUnauthorized,
			Message: "Unauthorized: the request bears no token of this bed; build the client from the configuration the check hands out",
		})
		return
	}
	h := p.faults.begin(rec)
	defer p.faults.end(rec.stream)
	if h == nil || p.spoil(w, r, rec, h) {
		p.pass(w, r, rec)
	}
}

// pass lets a request through to the API server.
func (p *Proxy) pass(w http.ResponseWriter, r *http.Request, rec *record) {
	if r.Header.Get("Upgrade") != "" {
		rec.refuse(w, &metav1.Status{
			Code: http.StatusNotImplemented, Reason: metav1.StatusReasonMethodNotAllowed,
			Message: "the testbed's proxy carries no upgraded connections: exec, attach and port-forward don't work in a check",
		})
		return
	}

	whole := false
	defer func() {
		// An answer that breaks off leaves ServeHTTP by a panic, which resets the
		// stream: the client must not take the part for the whole.
		switch {
		case whole:
		case r.Context().Err() != nil:
			rec.failed(rec.conn.ended())
		default:
			rec.failed("cut off by the API server")
		}
	}()
	p.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), recordKey{}, rec)))
	whole = true
}

// byClient is how a watch ends as a rule.
const byClient = "closed by the client"

// refuse answers in the API server's place.
func (r *record) refuse(w http.ResponseWriter, s *metav1.Status) {
	r.locked(func() { r.Status, r.Reason = int(s.Code), s.Reason })
	n := writeStatus(w, s)
	r.locked(func() { r.Bytes = int64(n) })
}

// newForward makes the part that lets requests through.
func newForward(upstream *url.URL, transport http.RoundTripper, as rest.ImpersonationConfig) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // an event of a watch goes on at once
		BufferPool:    &buffers{},
		ErrorLog:      log.New(io.Discard, "", 0), // the record tells
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.Out.Host = ""
			setIdentity(r.Out.Header, as)
			// The API server compresses what is large. On loopback that costs
			// time and gains nothing, and the record would count the packing.
			r.Out.Header.Del("Accept-Encoding")
			r.Out.Header.Del(CallerHeader)
		},
		ModifyResponse: func(res *http.Response) error {
			rec := recordOf(res.Request)
			rec.locked(func() { rec.Status = res.StatusCode })
			if rec.stream != nil && res.StatusCode == http.StatusOK {
				res.Body = rec.stream.answer(res.Request.Context(), res.Body, res.Header.Get("Content-Type"))
			}
			res.Body = rec.responseBody(res.Body)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			rec := recordOf(r)
			if r.Context().Err() != nil {
				rec.failed(rec.conn.ended())
				return
			}
			rec.failed(err.Error())
			rec.refuse(w, &metav1.Status{
				Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable,
				Message: "the API server doesn't answer: " + err.Error(),
			})
		},
	}
}

func recordOf(r *http.Request) *record {
	return r.Context().Value(recordKey{}).(*record)
}

// setIdentity takes out whatever the caller says about who it is, and puts in
// who it is here. The transport adds the credentials.
func setIdentity(h http.Header, as rest.ImpersonationConfig) {
	for name := range h {
		if strings.HasPrefix(name, "Impersonate-") || strings.HasPrefix(name, "X-Remote-") {
			delete(h, name)
		}
	}
	h.Del("Authorization")
	if as.UserName == "" {
		return
	}
	h.Set("Impersonate-User", as.UserName)
	for _, group := range as.Groups {
		h.Add("Impersonate-Group", group)
	}
}

// buffers saves a 32 KB allocation a request.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
