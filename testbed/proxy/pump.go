package proxy

import (
	"context"
	"io"
	"sync"
	"time"
)

// maxQueue is how many frames are read ahead. A client that is slow must be slow
// for the API server too, but what a rule holds is read, or the API server would
// give the watch up.
const maxQueue = 32

// answer begins to read the API server's answer, and is what the client gets.
func (s *stream) answer(ctx context.Context, body io.ReadCloser, contentType string) io.ReadCloser {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.body, s.framing = body, framingOf(contentType)
	read := chunks
	if s.framing != nil {
		read = s.framing.reader
	}
	s.act()
	go s.pump(read(body))
	return &answered{stream: s, ctx: ctx}
}

// pump reads the answer into the queue.
func (s *stream) pump(next func() ([]byte, error)) {
	defer close(s.pumped)
	for {
		data, err := next()
		now := time.Now()
		if len(data) > 0 && !s.push(frame{data: data, at: now}) {
			return
		}
		if err != nil {
			s.push(frame{err: err, at: now})
			return
		}
	}
}

// push reports false when nobody reads any more.
func (s *stream) push(f frame) bool {
	for {
		s.faults.mu.Lock()
		fits := len(s.queue) < maxQueue || s.keeps()
		if fits && !s.over {
			s.queue = append(s.queue, f)
		}
		over := s.over
		s.faults.mu.Unlock()
		if over {
			return false
		}
		if fits {
			select {
			case s.wake <- struct{}{}:
			default:
			}
			return true
		}
		select {
		case <-s.room:
		case <-s.done:
			return false
		}
	}
}

// take moves into p what may pass now. Where that is nothing, it says for how
// long.
func (s *stream) take(p []byte) (n int, pause time.Duration, err error) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	defer func() {
		select {
		case s.room <- struct{}{}:
		default:
		}
	}()
	if len(s.out) == 0 {
		s.act() // the last event that a rule let through is with the client
	}
	for n < len(p) {
		switch {
		case len(s.out) > 0:
			k := copy(p[n:], s.out)
			n, s.out = n+k, s.out[k:]
			if len(s.out) == 0 && s.due() {
				return n, 0, nil
			}
		case s.err != nil && n > 0:
			return n, 0, nil
		case s.err != nil:
			return 0, 0, s.err
		case len(s.queue) == 0:
			return n, forever, nil
		default:
			first := s.queue[0]
			if pause := s.wait(first); pause > 0 {
				return n, pause, nil
			}
			s.queue = s.queue[1:]
			s.passed(first)
			s.out, s.err = first.data, first.err
			s.over = s.over || first.err != nil
		}
	}
	return n, 0, nil
}

// answered is the answer as the client reads it.
type answered struct {
	*stream
	ctx  context.Context
	once sync.Once
	sent int64 // what the connection has written when the client has all so far
}

func (a *answered) Read(p []byte) (int, error) {
	if len(p) > 0 && a.breaks() {
		a.record.conn.settle(a.sent)
	}
	for len(p) > 0 {
		n, pause, err := a.take(p)
		if n > 0 || err != nil {
			a.sent = a.record.conn.soFar() + int64(n)
			return n, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-a.wake:
		case <-timer.C:
		case <-a.ctx.Done():
			timer.Stop()
			return 0, a.ctx.Err()
		}
		timer.Stop()
	}
	return 0, nil
}

// Close ends the watch at the API server, and waits until it is no longer read.
func (a *answered) Close() error {
	a.faults.mu.Lock()
	a.over, a.queue = true, nil
	a.faults.mu.Unlock()
	a.once.Do(func() { close(a.done) })
	err := a.body.Close()
	<-a.pumped
	return err
}
