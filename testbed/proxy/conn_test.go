package proxy

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// kept plays an API server that keeps one ConfigMap.
type kept struct {
	mu     sync.Mutex
	exists bool
	asked  []string
}

func (k *kept) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = append(k.asked, r.Method)
	_, _ = io.Copy(io.Discard, r.Body)
	switch {
	case r.Method == http.MethodPost && k.exists:
		writeStatus(w, &metav1.Status{Code: 409, Reason: metav1.StatusReasonAlreadyExists})
	case r.Method == http.MethodGet && !k.exists:
		writeStatus(w, &metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound})
	default:
		k.exists = true
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}`)
	}
}

func (k *kept) requests() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string{}, k.asked...)
}

// own is a client with connections of its own: client-go shares them between
// clients whose configurations differ by no more than a token.
func (w *world) own(t *testing.T) typed.ConfigMapInterface {
	t.Helper()
	c := w.Config()
	c.UserAgent = "own"
	c.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } // what can't be compared isn't shared
	client, err := rest.HTTPClientFor(c)
	require.NoError(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(client.Transport) })
	all, err := kubernetes.NewForConfigAndClient(c, client)
	require.NoError(t, err)
	return all.CoreV1().ConfigMaps("ns")
}

func TestDropARead(t *testing.T) {
	k := &kept{exists: true}
	w := newWorld(t, k.ServeHTTP)
	h := w.Faults().Add(Rule{Match: Match{Verb: "get"}, Drop: true, Times: 1})
	start := time.Now()
	_, err := w.own(t).Get(t.Context(), "c", metav1.GetOptions{})
	require.NoError(t, err, "client-go sends a GET again by itself")
	assert.GreaterOrEqual(t, time.Since(start), time.Second)
	assert.Equal(t, 1, h.Hits())
	assert.Equal(t, []string{"GET"}, k.requests(), "the first did not get through")
	all := w.Traffic().Requests(Match{})
	require.Len(t, all, 2)
	assert.Equal(t, dropped, all[0].Err)
	assert.True(t, all[0].Fault)
	assert.True(t, all[0].Done)
	assert.Zero(t, all[0].Status)
	assert.Regexp(t, `configmaps/c   no answer  connection dropped by the check$`, all[0].String())
	assert.False(t, all[1].Fault)

	// Without client-go, one sees what happens.
	w.Faults().Add(Rule{Match: Match{Verb: "list"}, Drop: true})
	_, err = w.client.Do(w.request(t, "GET", "/api/v1/namespaces/ns/configmaps", nil, nil)) //nolint:bodyclose // there is none
	require.Error(t, err)
	assert.True(t, utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err), "%v", err)
}

func TestDropAWrite(t *testing.T) {
	k := &kept{}
	w := newWorld(t, k.ServeHTTP)
	w.Faults().Add(Rule{Match: Match{Verb: "create"}, Drop: true, Times: 1})
	maps := w.own(t)
	_, err := maps.Create(t.Context(), testConfigMap(), metav1.CreateOptions{})
	require.Error(t, err, "client-go sends no write again")
	assert.True(t, utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err), "%v", err)
	assert.Equal(t, metav1.StatusReasonUnknown, apierrors.ReasonForError(err), "it is no answer of the API server's")
	assert.Empty(t, k.requests())
	assert.NotEmpty(t, w.last(t).Body, "what was sent is in the record")
	_, err = maps.Create(t.Context(), testConfigMap(), metav1.CreateOptions{})
	require.NoError(t, err)
}

func TestDropTheAnswer(t *testing.T) {
	k := &kept{}
	w := newWorld(t, k.ServeHTTP)
	h := w.Faults().Add(Rule{Match: Match{Verb: "create"}, DropAnswer: true, Times: 1})
	maps := w.own(t)
	_, err := maps.Create(t.Context(), testConfigMap(), metav1.CreateOptions{})
	require.Error(t, err)
	assert.True(t, utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err), "%v", err)
	assert.Equal(t, []string{"POST"}, k.requests(), "it got there")
	r := w.last(t)
	assert.Equal(t, 200, r.Status, "what the API server said is in the record")
	assert.Regexp(t, `configmaps   200  \d+ B  answer dropped by the check$`, r.String())
	assert.Equal(t, 1, h.Hits())

	_, err = maps.Create(t.Context(), testConfigMap(), metav1.CreateOptions{})
	assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)
	_, err = maps.Get(t.Context(), "c", metav1.GetOptions{})
	require.NoError(t, err)
}

// breaksOff waits for the end of a watch whose connection is gone: a reset, where
// something was on its way to the server, or else an end that comes too early.
func (w *watching) breaksOff(t *testing.T) {
	t.Helper()
	select {
	case end := <-w.lines:
		require.Regexp(t, "^end: (unexpected EOF|.*reset by peer)$", end)
	case <-time.After(10 * time.Second):
		require.FailNow(t, "it goes on")
	}
}

// The whole connection is gone, with all that is on it.
func TestDropTakesTheOthersAlong(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	secrets := Match{Resource: "secrets"}
	open := w.watch(t)
	w.Faults().Add(Rule{Match: secrets, Drop: true})
	_, err := w.client.Do(w.request(t, "GET", "/api/v1/namespaces/ns/secrets", nil, nil)) //nolint:bodyclose // there is none
	require.Error(t, err)
	open.breaksOff(t)
	w.until(t, "the record is done", func() bool { return w.Traffic().Requests(watches)[0].Done })
	assert.Equal(t, dropped, w.Traffic().Requests(watches)[0].Err, "not the client closed it")
	s.ended(t, 1)

	// A watch that is open breaks off when the rule comes.
	open = w.watch(t)
	s.send(t, "a")
	open.want(t, "ADDED a")
	h := w.Faults().Add(Rule{Match: watches, Drop: true, Times: 1})
	assert.Equal(t, 1, h.Hits())
	open.breaksOff(t)
	s.ended(t, 1)

	h = w.Faults().Add(Rule{Match: watches, Drop: true, AfterEvents: 1})
	open = w.watch(t)
	s.send(t, "a")
	open.want(t, "ADDED a")
	open.breaksOff(t)
	assert.Equal(t, 1, h.Hits())
	assert.Equal(t, dropped, w.last(t).Err)
}

func TestHoldARequest(t *testing.T) {
	k := &kept{}
	w := newWorld(t, k.ServeHTTP)
	h := w.Faults().Add(Rule{Match: Match{Verb: "create"}, Hold: true})
	maps := w.own(t)
	created := make(chan error)
	go func() {
		_, err := maps.Create(t.Context(), testConfigMap(), metav1.CreateOptions{})
		created <- err
	}()
	w.until(t, "it is held", func() bool { return h.Held() == 1 })
	_, err := maps.Get(t.Context(), "c", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "the connection works, and the create hasn't happened: %v", err)
	assert.Regexp(t, `no answer yet  held by the check$`, w.Traffic().Requests(Match{Verb: "create"})[0].String())

	// Who gives up never gets through.
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := maps.Create(ctx, testConfigMap(), metav1.CreateOptions{})
		created <- err
	}()
	w.until(t, "both are held", func() bool { return h.Held() == 2 })
	cancel()
	require.ErrorIs(t, <-created, context.Canceled)
	w.until(t, "one is held", func() bool { return h.Held() == 1 })

	h.Remove()
	h.Remove()
	require.NoError(t, <-created)
	assert.Equal(t, []string{"GET", "POST"}, k.requests())
	assert.Equal(t, 2, h.Hits())
	assert.False(t, w.Traffic().Requests(Match{Verb: "create"})[0].Fault)
}

// A client is cut off, with its open watch and what it begins, and another is not.
func TestBlackhole(t *testing.T) {
	s := newSource()
	w := newWorld(t, s.ServeHTTP)
	open := w.watch(t)
	s.send(t, "a")
	open.want(t, "ADDED a")
	other := w.own(t)
	_, err := other.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)

	victim := Match{UserAgent: "Go-http-client"} // that of w.client
	h := w.Faults().Add(Rule{Match: victim, Blackhole: true})
	assert.Equal(t, 1, h.Hits(), "the watch")
	s.send(t, "b")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = w.client.Do(w.request(t, "GET", "/api/v1/namespaces/ns/configmaps", nil, nil).WithContext(ctx)) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, context.DeadlineExceeded)
	open.quiet(t)
	assert.Equal(t, 2, w.Traffic().Count(Match{}), "what is sent into the dark doesn't arrive")
	assert.Regexp(t, `200  \d+ B  connection cut off by the check$`, w.Traffic().Requests(watches)[0].String())

	// A connection of its own doesn't help either.
	w.client.CloseIdleConnections()
	fresh := w.client.Transport.(*http.Transport).Clone()
	defer fresh.CloseIdleConnections()
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	answered := make(chan error)
	go func() {
		_, err := fresh.RoundTrip(w.request(t, "GET", "/api/v1/namespaces/ns/configmaps", nil, nil).WithContext(ctx)) //nolint:bodyclose // there is none
		answered <- err
	}()
	w.until(t, "the request is there", func() bool { return h.Hits() == 2 })
	select {
	case err := <-answered:
		t.Fatalf("an answer out of the dark: %v", err)
	default:
	}
	_, err = other.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err, "others are not cut off")

	h.Remove() // what is dark is closed
	require.Error(t, <-answered)
	assert.Contains(t, <-open.lines, "end: ", "b is lost")
	s.ended(t, 1)
	w.until(t, "all is done", func() bool {
		for _, r := range w.Traffic().Requests(victim) {
			if !r.Done {
				return false
			}
			assert.Equal(t, darkened, r.Err)
			assert.True(t, r.Fault)
		}
		return true
	})
	again := w.watch(t)
	s.send(t, "c")
	again.want(t, "ADDED c")
}

// One connection dies unnoticed; the client finds out by a ping, and a new one
// works.
func TestHalfOpen(t *testing.T) {
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "1")
	var lists atomic.Int64
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) { lists.Add(1); empty(w, r) })
	maps := w.own(t)
	_, err := maps.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	h := w.Faults().Add(Rule{Match: Match{Verb: "list"}, Blackhole: true, Times: 1})
	assert.Zero(t, h.Hits(), "nothing is under way")
	start := time.Now()
	_, err = maps.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err, "client-go notices, and asks again")
	assert.GreaterOrEqual(t, time.Since(start), 2*time.Second)
	assert.Equal(t, 1, h.Hits())
	assert.EqualValues(t, 2, lists.Load(), "the lost one did not get through")
}
