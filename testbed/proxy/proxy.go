package proxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Options say where a proxy leads and as whom.
type Options struct {
	// Upstream reaches the API server with the right to impersonate.
	Upstream *rest.Config
	// As is who the caller is at the API server. Without a user name the proxy
	// acts as Upstream's own user.
	As rest.ImpersonationConfig
}

// Proxy is a running reverse proxy. Close ends it.
type Proxy struct {
	as      rest.ImpersonationConfig
	clients clients
	ca      []byte
	address string

	traffic Traffic
	faults  Faults

	transport http.RoundTripper // to the API server
	forward   *httputil.ReverseProxy
	server    *http.Server
	cancel    context.CancelFunc

	mu      sync.Mutex // guards closed, so that no request starts while Close waits
	closed  bool
	serving sync.WaitGroup // the accept loop and the requests under way
}

// Start starts a proxy on a free port of 127.0.0.1.
func Start(o Options) (*Proxy, error) {
	upstream, transport, err := dial(o.Upstream)
	if err != nil {
		return nil, err
	}
	cert, ca, err := newCert()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the testbed's proxy: %w", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{
		as:      o.As,
		ca:      ca,
		address: listener.Addr().String(),
		cancel:  cancel,

		transport: transport,
	}
	p.faults.carried = p.traffic.carried
	p.forward = newForward(upstream, transport, o.As)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	p.server = &http.Server{
		Handler:           p,
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 1000}, // as the API server's default
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: 30 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withConn,
		// A client that doesn't trust the certificate gets the error itself.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	p.serving.Go(func() { _ = p.server.ServeTLS(connections{listener}, "", "") }) // ends with ErrServerClosed
	return p, nil
}

// dial prepares the way to the API server. The transport is client-go's own, so
// whatever a kubeconfig can hold works: certificates, tokens, exec plugins.
func dial(c *rest.Config) (*url.URL, http.RoundTripper, error) {
	c = rest.CopyConfig(c)
	c.UserAgent = "" // the caller's is kept
	c.Impersonate = rest.ImpersonationConfig{}
	c.DisableCompression = true // what passes is what is counted
	c.Timeout = 0               // it would cut watches
	upstream, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return nil, nil, fmt.Errorf("address of the API server: %w", err)
	}
	transport, err := rest.TransportFor(c)
	if err != nil {
		return nil, nil, fmt.Errorf("transport to the API server: %w", err)
	}
	return upstream, transport, nil
}

// Config returns a fresh client configuration that leads through the proxy. It
// has no client-side rate limit (QPS -1).
func (p *Proxy) Config() *rest.Config { return p.ConfigOf("") }

// ConfigOf returns one like Config whose requests bear a name in the record
// (Request.Client), so that a rule can meet, and a check count, those of one
// process of two. All names are the same user at the API server. The token of a
// name stays the same.
func (p *Proxy) ConfigOf(name string) *rest.Config {
	return &rest.Config{
		Host:            "https://" + p.address,
		BearerToken:     p.clients.token(name),
		TLSClientConfig: rest.TLSClientConfig{CAData: append([]byte(nil), p.ca...)},
		QPS:             -1,
	}
}

// Traffic is the record of the requests.
func (p *Proxy) Traffic() *Traffic { return &p.traffic }

// Faults are the rules by which requests fail.
func (p *Proxy) Faults() *Faults { return &p.faults }

// Close cuts all connections, open watches too, and waits until the requests
// under way have ended. It may be called more than once.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	_ = p.server.Close()
	p.serving.Wait()
	utilnet.CloseIdleConnectionsFor(p.transport)
}

// enter counts a request in; it reports false once the proxy is closed.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.serving.Add(1)
	}
	return !p.closed
}
