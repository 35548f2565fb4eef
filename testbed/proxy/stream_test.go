package proxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/watch"
)

// source plays an API server that serves watches: what is sent to it goes to
// every open one. Closing it ends them properly.
type source struct {
	events chan []byte
	gone   chan struct{} // one for each watch that has ended
}

func newSource() *source {
	return &source{make(chan []byte), make(chan struct{}, 100)}
}

func (s *source) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isTrue(r.URL.Query(), "watch") {
		empty(w, r)
		return
	}
	w.Header().Set("Content-Type", contentTypes[0])
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	defer func() { s.gone <- struct{}{} }()
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				return
			}
			_, _ = w.Write(e)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// send sends events to the one watch that is open; a name of "" is a bookmark.
func (s *source) send(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		kind := watch.Added
		if name == "" {
			kind = watch.Bookmark
		}
		select {
		case s.events <- encode(t, contentTypes[0], kind, name):
		case <-time.After(10 * time.Second):
			t.Fatal("no watch is open at the API server")
		}
	}
}

// ended waits until so many watches have ended here too, and take no event any
// more.
func (s *source) ended(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-s.gone:
		case <-time.After(10 * time.Second):
			t.Fatal("a watch goes on at the API server")
		}
	}
}

// watching is an open watch, and what came of it.
type watching struct {
	lines chan string // "ADDED a", or "end: ERROR"
	stop  context.CancelFunc
}

const watchPods = "/api/v1/namespaces/ns/pods?watch=true"

func (w *world) watch(t *testing.T) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	res, err := w.client.Do(w.request(t, "GET", watchPods, nil, nil).WithContext(ctx))
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	got := &watching{make(chan string, 1000), cancel}
	go func() {
		defer close(got.lines)
		defer res.Body.Close()
		in := bufio.NewReader(res.Body)
		for {
			line, err := in.ReadBytes('\n')
			if len(line) > 0 {
				e := decode(t, contentTypes[0], line)[0]
				got.lines <- strings.TrimSpace(fmt.Sprintf("%s %s", e.Type, nameOf(line)))
			}
			if err != nil {
				got.lines <- fmt.Sprint("end: ", err)
				return
			}
		}
	}()
	return got
}

func nameOf(line []byte) string {
	_, rest, _ := bytes.Cut(line, []byte(`"name":"`))
	name, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(name)
}

// want reads so many lines, and waits for them.
func (w *watching) want(t *testing.T, lines ...string) {
	t.Helper()
	for _, want := range lines {
		select {
		case got := <-w.lines:
			require.Equal(t, want, got)
		case <-time.After(10 * time.Second):
			require.FailNow(t, "nothing came", "wanted %q", want)
		}
	}
}

// quiet asserts that nothing has come. What would be late is caught by the next
// want.
func (w *watching) quiet(t *testing.T) {
	t.Helper()
	select {
	case got := <-w.lines:
		require.FailNow(t, "not quiet", "got %q", got)
	default:
	}
}

func (w *world) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, 10*time.Second, time.Millisecond, what)
}

func (w *world) last(t *testing.T) Request {
	t.Helper()
	all := w.Traffic().Requests(Match{})
	require.NotEmpty(t, all)
	return all[len(all)-1]
}

var watches = Match{Verb: "watch", Resource: "pods"}

func TestWatchIsClosed(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	open := w.watch(t)
	s.send(t, "a")
	open.want(t, "ADDED a")
	h := w.Faults().Add(Rule{Match: watches, Close: true, Times: 1})
	assert.Equal(t, 1, h.Hits(), "it has happened when Add returns")
	open.want(t, "end: EOF")
	s.ended(t, 1)
	w.until(t, "the record is done", func() bool { return w.last(t).Done })
	r := w.last(t)
	assert.Equal(t, "closed by the check", r.Err)
	assert.True(t, r.Fault)
	assert.Regexp(t, `pods\?watch=true   200  \d+ B  closed by the check$`, r.String())

	again := w.watch(t)
	s.send(t, "b")
	again.want(t, "ADDED b")
	assert.Equal(t, 1, h.Hits(), "Times is used up")
	assert.False(t, w.last(t).Fault)
}

func TestWatchIsClosedAfterEvents(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	h := w.Faults().Add(Rule{Match: watches, Close: true, AfterEvents: 2, Times: 2})
	for range 2 {
		open := w.watch(t)
		s.send(t, "a", "", "b") // a bookmark doesn't count
		open.want(t, "ADDED a", "BOOKMARK", "ADDED b", "end: EOF")
		s.ended(t, 1)
	}
	assert.Equal(t, 2, h.Hits())
	open := w.watch(t)
	s.send(t, "a", "b", "c")
	open.want(t, "ADDED a", "ADDED b", "ADDED c")

	// Of an open watch, those from now on count.
	h = w.Faults().Add(Rule{Match: watches, Expire: true, AfterEvents: 1})
	assert.Zero(t, h.Hits())
	s.send(t, "d")
	open.want(t, "ADDED d", "ERROR", "end: EOF")
	assert.Equal(t, 1, h.Hits())
	// Other requests pass by, also where the Match is wide.
	w.Faults().Add(Rule{Close: true})
	res, _ := w.do(t, "GET", "/api/v1/namespaces/ns/pods", nil, nil)
	assert.Equal(t, 200, res.StatusCode)
}

func TestWatchExpires(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	open := w.watch(t)
	s.send(t, "a")
	open.want(t, "ADDED a")
	h := w.Faults().Add(Rule{Match: watches, Expire: true, Times: 2})
	open.want(t, "ERROR", "end: EOF")
	w.watch(t).want(t, "ERROR", "end: EOF") // and a new one, at once
	s.ended(t, 2)
	assert.Equal(t, 2, h.Hits())
	third := w.watch(t)
	s.send(t, "b")
	third.want(t, "ADDED b")
	r := w.Traffic().Requests(watches)[0]
	assert.Equal(t, "ERROR 410 put in by the check", r.Err)
	assert.True(t, r.Fault)
}

// Times: 1 is for the oldest of the open watches.
func TestTheOldestWatchFirst(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	first := w.watch(t)
	second := w.watch(t)
	h := w.Faults().Add(Rule{Match: watches, Close: true, Times: 1})
	first.want(t, "end: EOF")
	second.quiet(t)
	h.Remove()
	w.Faults().Add(Rule{Match: Match{Resource: "secrets"}, Close: true})
	w.Faults().Add(Rule{Match: watches, Close: true, After: 1})
	second.quiet(t) // it is the one let through
	w.watch(t).want(t, "end: EOF")
	s.ended(t, 2)
	s.send(t, "a")
	second.want(t, "ADDED a")
}

func TestWatchIsHeld(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	open := w.watch(t)
	s.send(t, "a")
	open.want(t, "ADDED a")
	h := w.Faults().Add(Rule{Match: watches, Hold: true})
	var names, want []string
	for i := range 200 { // more than is read ahead without a rule
		names = append(names, fmt.Sprint("x", i))
		want = append(want, fmt.Sprint("ADDED x", i))
	}
	s.send(t, append(names, "")...)
	w.until(t, "all are held", func() bool { return h.Held() == 200 })
	close(s.events) // the end is held too
	s.ended(t, 1)
	open.quiet(t)
	assert.False(t, w.last(t).Done)
	assert.Regexp(t, `200  \d+ B  events held by the check  open$`, w.last(t).String())
	h.Remove()
	open.want(t, append(want, "BOOKMARK", "end: EOF")...)
	assert.Zero(t, h.Held())
	assert.Equal(t, 1, h.Hits())
	w.until(t, "the record is done", func() bool { return w.last(t).Done })
	assert.Empty(t, w.last(t).Err)
	assert.False(t, w.last(t).Fault, "the answer is the API server's, from the first byte to the last")
	assert.EqualValues(t, len(encode(t, contentTypes[0], watch.Added, "a"))+
		len(encode(t, contentTypes[0], watch.Bookmark, ""))+totalLen(t, names), w.last(t).Bytes)
}

func totalLen(t *testing.T, names []string) (n int) {
	for _, name := range names {
		n += len(encode(t, contentTypes[0], watch.Added, name))
	}
	return n
}

func TestWatchIsHeldFromItsBeginning(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	h := w.Faults().Add(Rule{Match: watches, Hold: true, AfterEvents: 1})
	open := w.watch(t)
	s.send(t, "", "a", "", "b")
	open.want(t, "BOOKMARK", "ADDED a")
	w.until(t, "b is held", func() bool { return h.Held() == 1 })
	open.quiet(t)

	// A watch that is held can be closed too. What it holds the client asks for
	// again, by its resourceVersion.
	w.Faults().Add(Rule{Match: watches, Close: true, Times: 1})
	open.want(t, "end: EOF")
	assert.Zero(t, h.Held())
	s.ended(t, 1)

	// A client that gives up is let go.
	open = w.watch(t)
	s.send(t, "c", "d")
	open.want(t, "ADDED c")
	w.until(t, "d is held", func() bool { return h.Held() == 1 })
	open.stop()
	w.until(t, "the record is done", func() bool { return w.last(t).Done })
	assert.Equal(t, byClient, w.last(t).Err)
	assert.Zero(t, h.Held())
}

func TestWatchEventsAreLate(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	open := w.watch(t)
	const late = 300 * time.Millisecond
	h := w.Faults().Add(Rule{Match: watches, Delay: late})
	start := time.Now()
	s.send(t, "a", "b", "", "c")
	close(s.events)
	sent := time.Since(start)
	for _, want := range []string{"ADDED a", "ADDED b", "BOOKMARK", "ADDED c", "end: EOF"} {
		open.want(t, want)
		assert.GreaterOrEqual(t, time.Since(start), late, want)
	}
	assert.Less(t, time.Since(start), 3*late+sent, "one wait doesn't add to the next")
	assert.Equal(t, 1, h.Hits())
	assert.Equal(t, "events held 300ms by the check", w.last(t).Late)
}

func TestRemoveReleasesWhatIsLate(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	open := w.watch(t)
	h := w.Faults().Add(Rule{Match: watches, Delay: time.Hour})
	s.send(t, "a", "b")
	w.until(t, "both wait", func() bool { return h.Held() == 2 })
	open.quiet(t)
	h.Remove()
	open.want(t, "ADDED a", "ADDED b")
}

// A fault that never began is for the next watch.
func TestTimesAreGivenBack(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	h := w.Faults().Add(Rule{Match: watches, Expire: true, AfterEvents: 2, Times: 1})
	open := w.watch(t)
	s.send(t, "a")
	open.want(t, "ADDED a")
	open.stop()
	w.until(t, "the record is done", func() bool { return w.last(t).Done })
	assert.Zero(t, h.Hits())
	s.ended(t, 1)
	open = w.watch(t)
	s.send(t, "a", "b")
	open.want(t, "ADDED a", "ADDED b", "ERROR", "end: EOF")
	assert.Equal(t, 1, h.Hits())
}

func TestAWatchThatIsNone(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "no")
	})
	h := w.Faults().Add(Rule{Match: watches, Close: true})
	res, body := w.do(t, "GET", watchPods, nil, nil)
	assert.Equal(t, 403, res.StatusCode)
	assert.Equal(t, "no", string(body))
	assert.Zero(t, h.Hits())
}

// A slow client is slow for the API server too, unless a rule holds the events.
func TestASlowClientIsFelt(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	res, err := w.client.Do(w.request(t, "GET", watchPods, nil, nil))
	require.NoError(t, err)
	defer res.Body.Close()
	big := append(bytes.Repeat([]byte("x"), 1<<20), '\n')
	sent := 0
	for full := false; !full; {
		select {
		case s.events <- big:
			if sent++; sent > 200 {
				t.Fatal("200 MB were read ahead for nobody")
			}
		case <-time.After(time.Second):
			full = true
		}
	}
}
