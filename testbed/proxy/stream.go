package proxy

import (
	"io"
	"slices"
	"time"
)

// stream is a watch under way, from its beginning to its end. It stands between
// the API server's answer and the client, and knows one event from the next, so
// that a rule may act at any time. Without one, all bytes pass as they are.
//
// The lock of the faults guards it.
type stream struct {
	faults *Faults
	record *record
	about  Request // what rules match
	rules  []*met

	framing *framing // nil as long as there is no answer, or if it isn't known
	body    io.ReadCloser
	pumped  chan struct{} // closed when body has been read to its end

	queue []frame       // what the API server has sent and the client hasn't got
	out   []byte        // what is left of the frame that is being passed on
	over  bool          // nothing comes after out, but err
	err   error         // io.EOF for a proper end
	room  chan struct{} // tells the pump that there may be room
	wake  chan struct{} // tells the reader that something has changed
	done  chan struct{} // closed when nobody reads any more
}

// met is a rule that a watch has met.
type met struct {
	handle *Handle
	left   int // events until its fault begins
	acted  bool
}

// keeps reports whether the rule keeps frames back.
func (m *met) keeps() bool {
	return m.acted && (m.handle.rule.Hold || m.handle.rule.Delay > 0)
}

// frame is an event on the wire, or the end of the answer.
type frame struct {
	data []byte
	err  error
	at   time.Time // when it came
}

func newStream(f *Faults, rec *record, about Request) *stream {
	return &stream{
		faults: f, record: rec, about: about,
		pumped: make(chan struct{}),
		room:   make(chan struct{}, 1), wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// meet puts a rule in force for the watch. The lock is held, as for all methods
// but answer, pump, and those of the io.ReadCloser.
func (s *stream) meet(h *Handle) {
	s.rules = append(s.rules, &met{handle: h, left: h.rule.AfterEvents})
	s.act()
	s.stir()
}

// leave ends a rule.
func (s *stream) leave(h *Handle) {
	s.rules = slices.DeleteFunc(s.rules, func(m *met) bool { return m.handle == h })
	s.stir()
}

// stir lets pump and reader look again.
func (s *stream) stir() {
	for _, c := range []chan struct{}{s.room, s.wake} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// act begins the faults that have let enough events through. Before there is an
// answer, only the connection can break: whether there will be a watch at all is
// for the API server to say.
func (s *stream) act() {
	for _, m := range s.rules {
		rule := m.handle.rule
		if s.over || m.acted || m.left > 0 || s.body == nil && !rule.Drop && !rule.Blackhole {
			continue
		}
		m.acted = true
		m.handle.hits++
		s.fault(m.handle)
	}
}

func (s *stream) fault(h *Handle) {
	switch rule := h.rule; {
	case rule.Close:
		s.finish(nil, io.EOF, "closed by the check")
	case rule.Expire:
		event, err := s.framing.failure(rule.expired())
		if err != nil {
			s.finish(nil, err, err.Error())
			return
		}
		s.finish(event, io.EOF, "ERROR 410 put in by the check")
	case rule.Drop:
		s.finish(nil, io.ErrUnexpectedEOF, dropped)
		s.record.conn.cut(dropped)
	case rule.Blackhole:
		s.record.spoiled(darkened)
		h.darken(s.record.conn)
	case rule.Hold:
		s.record.late("events held by the check")
	case rule.Delay > 0:
		s.record.late("events held " + rule.Delay.String() + " by the check")
	}
}

// finish ends the watch, with a last event or none.
func (s *stream) finish(event []byte, err error, why string) {
	s.over, s.err, s.queue = true, err, nil
	s.out = append(slices.Clip(s.out), event...)
	s.record.spoiled(why)
}

// wait is how long a rule still keeps a frame back; forever where it doesn't say.
func (s *stream) wait(f frame) time.Duration {
	var longest time.Duration
	for _, m := range s.rules {
		switch {
		case !m.acted:
		case m.handle.rule.Hold:
			return forever
		case m.handle.rule.Delay > 0:
			longest = max(longest, time.Until(f.at.Add(m.handle.rule.Delay)))
		}
	}
	return longest
}

const forever = time.Duration(1<<63 - 1)

// keeps reports whether a rule keeps frames back at the moment.
func (s *stream) keeps() bool {
	return slices.ContainsFunc(s.rules, (*met).keeps)
}

// heldBy counts the events that h keeps back.
func (s *stream) heldBy(h *Handle) int {
	n := 0
	if !slices.ContainsFunc(s.rules, func(m *met) bool { return m.handle == h && m.keeps() }) {
		return n
	}
	for _, f := range s.queue {
		if f.err == nil && !s.framing.isBookmark(f.data) {
			n++
		}
	}
	return n
}

// passed counts an event that goes to the client.
func (s *stream) passed(f frame) {
	counting := func(m *met) bool { return m.left > 0 }
	if f.err != nil || !slices.ContainsFunc(s.rules, counting) || s.framing.isBookmark(f.data) {
		return
	}
	for _, m := range s.rules {
		if m.left > 0 {
			m.left--
		}
	}
}

// due reports whether a fault is to begin.
func (s *stream) due() bool {
	return slices.ContainsFunc(s.rules, func(m *met) bool { return !m.acted && m.left == 0 })
}

// breaks reports whether a fault is to begin that breaks the connection.
func (s *stream) breaks() bool {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return len(s.out) == 0 && slices.ContainsFunc(s.rules, func(m *met) bool {
		return !m.acted && m.left == 0 && (m.handle.rule.Drop || m.handle.rule.Blackhole)
	})
}
