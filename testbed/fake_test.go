package testbed

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call asks a service as a controller would.
func call(ctx context.Context, method, url, body, idempotencyKey string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if idempotencyKey != "" {
		r.Header.Set("Idempotency-Key", idempotencyKey)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, strings.TrimSpace(string(text)), err
}

func newExternal(t *testing.T) *External {
	t.Helper()
	e, err := startExternal()
	require.NoError(t, err)
	t.Cleanup(e.close)
	return e
}

func TestExternalObjects(t *testing.T) {
	e := newExternal(t)
	for i, tc := range []struct {
		method, path, body, idempotent string
		status                         int
		answer                         string
	}{
		{"GET", "/objects", "", "", 200, `[]`},
		{"GET", "/objects/ns/a", "", "", 404, `{"error":"there is no object of \"ns/a\""}`},
		{"DELETE", "/objects/ns/a", "", "", 404, `{"error":"there is no object of \"ns/a\""}`},
		{"POST", "/objects/ns/a", `{"size":1}`, "", 201, `{"id":"obj-1","key":"ns/a","body":{"size":1}}`},
		{"POST", "/objects/ns/a", `{"size":1}`, "", 201, `{"id":"obj-2","key":"ns/a","body":{"size":1}}`},
		{"GET", "/objects/ns/a", "", "", 200, `[{"id":"obj-1","key":"ns/a","body":{"size":1}},{"id":"obj-2","key":"ns/a","body":{"size":1}}]`},
		{"PUT", "/objects/b", `2`, "", 201, `{"id":"obj-3","key":"b","body":2}`},
		{"PUT", "/objects/b", `3`, "", 200, `{"id":"obj-3","key":"b","body":3}`},
		{"POST", "/objects/c", "", "k", 201, `{"id":"obj-4","key":"c","body":null}`},
		{"POST", "/as/two/objects/c", "", "k", 200, `{"id":"obj-4","key":"c","body":null}`},
		{"POST", "/objects/c", "1", "k", 422, `{"error":"the idempotency key \"k\" has been used for something else"}`},
		{"POST", "/objects/d", "", "k", 422, `{"error":"the idempotency key \"k\" has been used for something else"}`},
		{"POST", "/objects/d", "{", "", 400, `{"error":"the body is no JSON"}`},
		{"POST", "/objects", "{}", "", 400, `{"error":"a key is needed: /objects/KEY"}`},
		{"PATCH", "/objects/b", "{}", "", 405, `{"error":"the method PATCH is not known here"}`},
		{"GET", "/other", "", "", 404, `{"error":"there is no /other: objects are at /objects/KEY"}`},
		{"POST", "/objects/b", strings.Repeat(" ", maxExternalBody+1), "", 413, `{"error":"read the body: http: request body too large"}`},
		{"DELETE", "/objects/ns/a", "", "", 204, ``},
	} {
		status, answer, err := call(t.Context(), tc.method, e.URL()+tc.path, tc.body, tc.idempotent)
		require.NoError(t, err)
		assert.Equal(t, tc.status, status, "%d: %s %s", i, tc.method, tc.path)
		assert.Equal(t, tc.answer, answer, "%d: %s %s", i, tc.method, tc.path)
	}
	assert.Equal(t, []ExternalObject{{"obj-3", "b", 3.0}}, e.Objects("b"))
	assert.Len(t, e.Objects(""), 2)
	assert.Equal(t, map[string]int{"k": 3}, e.Repeated("c"))
	assert.Equal(t, map[string]int{"k": 4}, e.Repeated(""))
	assert.Empty(t, e.Repeated("b"))
	calls := e.Calls("c")
	require.Len(t, calls, 3)
	assert.Equal(t, "two", calls[1].Client)
	assert.Equal(t, "POST /objects/c   200  from two  Idempotency-Key k", calls[1].String())
	for _, c := range e.Calls("") {
		assert.True(t, c.Done)
		assert.Equal(t, c.Status < 300, c.Worked, c.String())
		assert.False(t, c.Fault)
	}

	o := e.Put("e", "x")
	assert.Equal(t, []ExternalObject{o}, e.Objects("e"))
	assert.Equal(t, 1, e.Remove("e"))
	assert.Equal(t, 0, e.Remove("e"))
	assert.Empty(t, e.Calls("e"))
}

func TestExternalFails(t *testing.T) {
	e := newExternal(t)
	h := e.Add(ExternalRule{Key: "a", Method: "POST", Status: 429, RetryAfter: 1100 * time.Millisecond, After: 1, Times: 2})
	var got []int
	for range 4 {
		status, _, err := call(t.Context(), "POST", e.URL()+"/objects/a", "", "")
		require.NoError(t, err)
		got = append(got, status)
	}
	assert.Equal(t, []int{201, 429, 429, 201}, got)
	assert.Equal(t, 2, h.Hits())
	assert.Len(t, e.Objects("a"), 2)
	status, _, err := call(t.Context(), "POST", e.URL()+"/objects/b", "", "")
	require.NoError(t, err)
	assert.Equal(t, 201, status)
	assert.Equal(t, "POST /objects/a   429  put in by the check", e.Calls("a")[1].String())

	e.Add(ExternalRule{Client: "x", Status: 503, RetryAfter: 1100 * time.Millisecond, Message: "closed on Sundays"})
	r, err := http.Get(e.URLOf("x") + "/objects/a")
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	assert.Equal(t, "2", r.Header.Get("Retry-After"))
	assert.Equal(t, `{"error":"closed on Sundays"}`, strings.TrimSpace(string(text)))
}

// The service did it, and the caller never learns.
func TestExternalLosesAnswers(t *testing.T) {
	e := newExternal(t)
	var done []int
	h := e.Add(ExternalRule{Key: "a", Lose: true, Times: 1, Done: func() { done = append(done, len(e.Objects("a"))) }})
	_, _, err := call(t.Context(), "POST", e.URL()+"/objects/a", "", "once")
	require.Error(t, err)
	assert.Equal(t, 1, h.Hits())
	assert.Equal(t, []int{1}, done)
	require.Len(t, e.Calls("a"), 1, "Go's client has repeated the call by itself")
	assert.Eventually(t, func() bool { return e.Calls("a")[0].Done }, Scale(10*time.Second), time.Millisecond)
	assert.Equal(t, "POST /objects/a   no answer, though it was done  put in by the check  Idempotency-Key once", e.Calls("a")[0].String())
	status, answer, err := call(t.Context(), "POST", e.URL()+"/objects/a", "", "once")
	require.NoError(t, err)
	assert.Equal(t, 200, status)
	assert.Equal(t, `{"id":"obj-1","key":"a","body":null}`, answer)
	assert.Len(t, e.Objects("a"), 1)
}

func TestExternalHangsForAKey(t *testing.T) {
	e := newExternal(t)
	h := e.Add(ExternalRule{Key: "slow", Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	var gaveUp error
	patient := make(chan int, 1)
	wg.Go(func() { _, _, gaveUp = call(ctx, "POST", e.URL()+"/objects/slow", "1", "") })
	wg.Go(func() {
		status, _, _ := call(t.Context(), "POST", e.URL()+"/objects/slow", "2", "")
		patient <- status
	})
	require.Eventually(t, func() bool { return h.Hits() == 2 }, Scale(10*time.Second), time.Millisecond)
	status, _, err := call(t.Context(), "POST", e.URL()+"/objects/other", "", "")
	require.NoError(t, err)
	assert.Equal(t, 201, status, "only the key hangs")
	assert.Empty(t, e.Objects("slow"))
	assert.Equal(t, "POST /objects/slow   no answer yet  put in by the check", e.Calls("slow")[0].String())

	cancel() // one gives up, and the service has done nothing
	assert.Eventually(t, func() bool {
		calls := e.Calls("slow")
		return calls[0].Done != calls[1].Done
	}, Scale(10*time.Second), time.Millisecond)
	h.Remove() // the other is served
	h.Remove()
	assert.Equal(t, 201, <-patient)
	wg.Wait()
	assert.ErrorIs(t, gaveUp, context.Canceled)
	assert.Equal(t, []ExternalObject{{"obj-2", "slow", 2.0}}, e.Objects("slow"))
}

func TestExternalIsSlow(t *testing.T) {
	e := newExternal(t)
	const latency = 50 * time.Millisecond
	h := e.Add(ExternalRule{Latency: latency})
	begin := time.Now()
	_, _, err := call(t.Context(), "PUT", e.URL()+"/objects/a", "", "")
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(begin), latency)
	assert.GreaterOrEqual(t, e.Calls("a")[0].Duration, latency)
	h.Remove()

	e.Add(ExternalRule{Latency: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _, err = call(ctx, "PUT", e.URL()+"/objects/b", "", "")
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Empty(t, e.Objects("b"))
}

func TestExternalActsBefore(t *testing.T) {
	e := newExternal(t)
	e.Add(ExternalRule{Key: "a", Before: func() { e.Remove("a") }, Times: 1})
	e.Put("a", nil)
	status, _, err := call(t.Context(), "DELETE", e.URL()+"/objects/a", "", "")
	require.NoError(t, err)
	assert.Equal(t, 404, status, "somebody else was quicker")
}

func TestRulesThatMakeNoSense(t *testing.T) {
	e := newExternal(t)
	act := func() {}
	for name, rule := range map[string]ExternalRule{
		"nothing":            {Key: "a", Times: 1},
		"status and lose":    {Status: 500, Lose: true},
		"status and done":    {Status: 500, Done: act},
		"retry and no error": {Lose: true, RetryAfter: time.Second},
		"hang and latency":   {Hang: true, Latency: 1},
		"hang and status":    {Hang: true, Status: 500},
	} {
		assert.Panics(t, func() { e.Add(rule) }, name)
	}
}

func TestExternalAtOnce(t *testing.T) {
	e := newExternal(t)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, _, err := call(t.Context(), "POST", e.URL()+"/objects/a", "", "same")
			assert.NoError(t, err)
			e.Calls("")
			e.Objects("")
		})
	}
	wg.Wait()
	assert.Len(t, e.Objects("a"), 1)
	assert.Equal(t, map[string]int{"same": 50}, e.Repeated("a"))
}

// The service's end ends the calls that hang.
func TestExternalEnds(t *testing.T) {
	e, err := startExternal()
	require.NoError(t, err)
	h := e.Add(ExternalRule{Hang: true})
	failed := make(chan error, 1)
	go func() {
		_, _, err := call(t.Context(), "POST", e.URL()+"/objects/a", "", "")
		failed <- err
	}()
	require.Eventually(t, func() bool { return h.Hits() == 1 }, Scale(10*time.Second), time.Millisecond)
	e.close()
	assert.Error(t, <-failed)
	e.close()
}
