package proxy

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// How a rule ended a connection, and with it the requests on it.
const (
	dropped  = "connection dropped by the check"
	darkened = "connection cut off by the check"
)

// conn is a client's connection, under the encryption, that a rule can break.
type conn struct {
	net.Conn
	closed  chan struct{}
	written atomic.Int64 // bytes, encrypted

	mu   sync.Mutex
	dark bool
	why  string // how a rule ended it, or ""
}

// connections makes each connection of a listener a conn.
type connections struct{ net.Listener }

func (l connections) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, closed: make(chan struct{})}, nil
}

type connKey struct{}

// withConn lets a request find its connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// connOf returns nil for a request that came by no network, as in a test.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// Read gives nothing of what arrives in the dark, nor that the client hung up.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.isDark() {
		<-c.closed
		return 0, net.ErrClosed
	}
	return n, err
}

// Write loses what is sent in the dark. As with a network that is gone, the
// sender doesn't learn of it.
func (c *conn) Write(p []byte) (int, error) {
	if c.isDark() {
		return len(p), nil
	}
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// soFar is how many bytes have been written.
func (c *conn) soFar() int64 {
	if c == nil {
		return 0
	}
	return c.written.Load()
}

// settle waits until so many bytes have been written in all: a server's buffers
// are empty only a moment after its handler has flushed them. Whoever else writes
// on the connection makes the count imprecise, so it gives the buffers a little
// time in any case.
func (c *conn) settle(written int64) {
	if c == nil {
		return
	}
	end := time.Now().Add(time.Second)
	for {
		enough := c.written.Load() >= written
		select {
		case <-c.closed:
			return
		case <-time.After(2 * time.Millisecond):
		}
		if enough || time.Now().After(end) {
			return
		}
	}
}

func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed() {
		return net.ErrClosed
	}
	close(c.closed)
	return c.Conn.Close()
}

func (c *conn) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

func (c *conn) isDark() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dark
}

// darken reports false if the connection is closed, or dark already.
func (c *conn) darken() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dark || c.isClosed() {
		return false
	}
	c.dark = true
	return true
}

// cut closes the connection without a farewell.
func (c *conn) cut(why string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	if c.why == "" && !c.isClosed() {
		c.why = why
	}
	c.mu.Unlock()
	_ = c.Close() // it may have been closed meanwhile
}

// ended says why a request's connection is gone: as a rule, by the client.
func (c *conn) ended() string {
	if c == nil {
		return byClient
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.why != "":
		return c.why
	case c.dark:
		return darkened
	default:
		return byClient
	}
}
