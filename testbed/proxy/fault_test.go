package proxy

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// empty plays an API server that has no ConfigMaps.
func empty(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[]}`))
}

func TestFaultStatus(t *testing.T) {
	for _, tc := range []struct {
		status int
		verb   string
		is     func(error) bool
	}{
		{403, "list", apierrors.IsForbidden},
		{404, "list", apierrors.IsNotFound},
		{409, "list", apierrors.IsConflict},
		{409, "create", apierrors.IsAlreadyExists},
		{410, "list", apierrors.IsResourceExpired},
		{422, "list", apierrors.IsInvalid},
		{429, "list", apierrors.IsTooManyRequests},
		{500, "list", apierrors.IsInternalError},
		{503, "list", apierrors.IsServiceUnavailable},
		{504, "list", apierrors.IsTimeout},
	} {
		t.Run(http.StatusText(tc.status)+" "+tc.verb, func(t *testing.T) {
			got := ""
			w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Method })
			h := w.Faults().Add(Rule{Status: tc.status, Message: "the message"})
			maps := kubernetes.NewForConfigOrDie(w.Config()).CoreV1().ConfigMaps("ns")
			var err error
			if tc.verb == "create" {
				cm := testConfigMap()
				_, err = maps.Create(t.Context(), cm, metav1.CreateOptions{})
			} else {
				_, err = maps.List(t.Context(), metav1.ListOptions{})
			}
			assert.True(t, tc.is(err), "%v (%s)", err, apierrors.ReasonForError(err))
			assert.ErrorContains(t, err, "the message")
			assert.Empty(t, got, "the API server was asked")
			assert.Equal(t, 1, h.Hits())
			r := w.Traffic().Requests(Match{})[0]
			assert.True(t, r.Fault)
			assert.Equal(t, tc.status, r.Status)
			if tc.verb == "create" {
				assert.NotEmpty(t, r.Body, "the body of a write is recorded all the same")
			}
		})
	}
}

func TestFaultReason(t *testing.T) {
	w := newWorld(t, empty)
	w.Faults().Add(Rule{Status: 410, Reason: metav1.StatusReasonGone})
	_, body := w.do(t, "GET", "/api/v1/namespaces/ns/configmaps/c", nil, nil)
	s := status(t, body)
	assert.Equal(t, metav1.StatusReasonGone, s.Reason)
	assert.Equal(t, &metav1.StatusDetails{Kind: "configmaps", Name: "c"}, s.Details)
	assert.Contains(t, s.Message, "Gone")
}

func TestFaultExpiredToken(t *testing.T) {
	w := newWorld(t, empty)
	w.Faults().Add(Rule{Status: 410})
	encode := base64.RawURLEncoding.EncodeToString
	for token, want := range map[string]string{
		encode([]byte(`{"v":"meta.k8s.io/v1","rv":17,"start":"ns/c\u0000"}`)): encode([]byte(`{"v":"meta.k8s.io/v1","rv":-1,"start":"ns/c\u0000"}`)),
		encode([]byte(`no JSON`)): "",
		"no base64":               "",
		"":                        "",
	} {
		_, body := w.do(t, "GET", "/api/v1/namespaces/ns/configmaps?continue="+url.QueryEscape(token), nil, nil)
		s := status(t, body)
		assert.Equal(t, metav1.StatusReasonExpired, s.Reason)
		assert.Equal(t, want, s.Continue, token)
	}
}

func TestFaultTimesAndAfter(t *testing.T) {
	w := newWorld(t, empty)
	h := w.Faults().Add(Rule{Match: Match{Resource: "configmaps"}, Status: 500, After: 2, Times: 3})
	var got []int
	for range 7 {
		res, _ := w.do(t, "GET", "/api/v1/namespaces/ns/configmaps", nil, nil)
		got = append(got, res.StatusCode)
		res, _ = w.do(t, "GET", "/api/v1/namespaces/ns/pods", nil, nil)
		assert.Equal(t, 200, res.StatusCode, "another resource")
	}
	assert.Equal(t, []int{200, 200, 500, 500, 500, 200, 200}, got)
	assert.Equal(t, 3, h.Hits())
}

func TestFaultsInOrder(t *testing.T) {
	w := newWorld(t, empty)
	once := w.Faults().Add(Rule{Status: 500, Times: 1})
	open := w.Faults().Add(Rule{Status: 409})
	var got []int
	for range 3 {
		res, _ := w.do(t, "GET", "/api/v1/namespaces/ns/configmaps", nil, nil)
		got = append(got, res.StatusCode)
	}
	open.Remove()
	open.Remove()
	res, _ := w.do(t, "GET", "/api/v1/namespaces/ns/configmaps", nil, nil)
	got = append(got, res.StatusCode)
	assert.Equal(t, []int{500, 409, 409, 200}, got)
	assert.Equal(t, 1, once.Hits())
	assert.Equal(t, 2, open.Hits())
}

func TestFaultRetryAfter(t *testing.T) {
	w := newWorld(t, empty)
	h := w.Faults().Add(Rule{Status: 429, RetryAfter: 1500 * time.Millisecond, Times: 1})
	res, body := w.do(t, "GET", "/api/v1/namespaces/ns/configmaps", nil, nil)
	assert.Equal(t, "2", res.Header.Get("Retry-After"))
	s := status(t, body)
	assert.EqualValues(t, 2, s.Details.RetryAfterSeconds)
	h.Remove()

	// client-go waits and comes again by itself.
	w.Faults().Add(Rule{Status: 429, RetryAfter: time.Second, Times: 1})
	mark := w.Traffic().Mark()
	_, err := kubernetes.NewForConfigOrDie(w.Config()).CoreV1().ConfigMaps("ns").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	both := w.Traffic().Since(mark).Requests(Match{})
	require.Len(t, both, 2)
	assert.GreaterOrEqual(t, both[1].Start.Sub(both[0].Start), time.Second)
}

func TestFaultLatency(t *testing.T) {
	w := newWorld(t, empty)
	const latency = 100 * time.Millisecond
	w.Faults().Add(Rule{Latency: latency, Times: 1})
	res, _ := w.do(t, "GET", "/api/v1/namespaces/ns/configmaps", nil, nil)
	assert.Equal(t, 200, res.StatusCode)
	r := w.Traffic().Requests(Match{})[0]
	assert.GreaterOrEqual(t, r.Duration, latency)
	assert.False(t, r.Fault, "the API server answered")

	w.Faults().Add(Rule{Latency: latency, Status: 500, Times: 1})
	res, _ = w.do(t, "GET", "/api/v1/namespaces/ns/configmaps", nil, nil)
	assert.Equal(t, 500, res.StatusCode)
	assert.GreaterOrEqual(t, w.Traffic().Requests(Match{})[1].Duration, latency)

	// A client that doesn't wait so long is not held.
	w.Faults().Add(Rule{Latency: time.Hour, Times: 1})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for w.Traffic().Count(Match{}) < 3 && ctx.Err() == nil {
			runtime.Gosched()
		}
	}()
	_, err := kubernetes.NewForConfigOrDie(w.Config()).CoreV1().ConfigMaps("ns").List(ctx, metav1.ListOptions{})
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool { return w.Traffic().Requests(Match{})[2].Done }, 10*time.Second, time.Millisecond)
	last := w.Traffic().Requests(Match{})[2]
	assert.Equal(t, byClient, last.Err)
	assert.Zero(t, last.Status)
	assert.True(t, strings.Contains(last.String(), "no answer"))
}

func TestAFaultThatDoesNothing(t *testing.T) {
	var f Faults
	assert.Panics(t, func() { f.Add(Rule{Match: Match{Verb: "list"}, Times: 1}) })
}

func testConfigMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"k": "v"}}
}

func TestFaultBefore(t *testing.T) {
	var order []string
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) { order = append(order, r.Method) })
	h := w.Faults().Add(Rule{Match: Match{Verb: "get"}, Before: func() { order = append(order, "before") }})
	maps := kubernetes.NewForConfigOrDie(w.Config()).CoreV1().ConfigMaps("ns")
	_ = maps.Delete(t.Context(), "cm", metav1.DeleteOptions{})
	_, _ = maps.Get(t.Context(), "cm", metav1.GetOptions{})
	assert.Equal(t, []string{http.MethodDelete, "before", http.MethodGet}, order)
	assert.Equal(t, 1, h.Hits())
}
