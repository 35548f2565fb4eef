package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/controllings/controllings/controlplane/supervise"
)

// fake records what it is told to do. "slow" takes until its context ends, "bad"
// goes wrong, and "held" waits until release is closed.
type fake struct {
	mu      sync.Mutex
	calls   []string
	busy    int // actions under way
	most    int // of them at once
	release chan struct{}
}

func (f *fake) note(ctx context.Context, what, name string) error {
	f.mu.Lock()
	f.calls = append(f.calls, what+" "+name)
	f.busy++
	f.most = max(f.most, f.busy)
	f.mu.Unlock()
	defer func() { f.mu.Lock(); f.busy--; f.mu.Unlock() }()
	switch name {
	case "slow":
		<-ctx.Done()
		return ctx.Err()
	case "held":
		<-f.release
	case "unknown":
		return &Error{Code: http.StatusNotFound, Err: errors.New(`no component "unknown"`), Hint: "there are: a, b"}
	case "bad":
		return errors.New("it went wrong")
	}
	return nil
}

func (f *fake) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (f *fake) Components() []supervise.Status {
	return []supervise.Status{{Name: "etcd", PID: 7, State: supervise.Running}}
}
func (f *fake) Stop(ctx context.Context, n string) error    { return f.note(ctx, "stop", n) }
func (f *fake) Start(ctx context.Context, n string) error   { return f.note(ctx, "start", n) }
func (f *fake) Restart(ctx context.Context, n string) error { return f.note(ctx, "restart", n) }
func (f *fake) Kill(ctx context.Context, n string) error    { return f.note(ctx, "kill", n) }
func (f *fake) Compact(ctx context.Context) (int64, error)  { return 42, f.note(ctx, "compact", "") }
func (f *fake) AddNodes(ctx context.Context, n int, by string) ([]string, error) {
	return slices.Repeat([]string{"node"}, n), f.note(ctx, "add", by)
}
func (f *fake) RemoveNodes(ctx context.Context, by string) ([]string, error) {
	return []string{"node-3"}, f.note(ctx, "remove", by)
}
func (f *fake) Restore(ctx context.Context) ([]string, error) {
	return []string{"started etcd"}, f.note(ctx, "restore", "")
}

func serve(t *testing.T, o Options) (*fake, *Server, *Client) {
	t.Helper()
	f := &fake{release: make(chan struct{})}
	s, err := Serve(filepath.Join(t.TempDir(), "control"), f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return f, s, NewClient(s.path)
}

func codeOf(err error) int {
	var known *Error
	if errors.As(err, &known) {
		return known.Code
	}
	return 0
}

func hintOf(err error) string {
	var known *Error
	if errors.As(err, &known) {
		return known.Hint
	}
	return ""
}

func TestEveryActionArrives(t *testing.T) {
	f, _, c := serve(t, Options{})
	ctx := t.Context()
	for _, verb := range []string{"stop", "start", "restart", "kill"} {
		if err := c.Component(ctx, verb, "a b/c"); err != nil {
			t.Error(err)
		}
	}
	if rev, err := c.Compact(ctx); err != nil || rev != 42 {
		t.Errorf("compact: %d, %v", rev, err)
	}
	if names, err := c.AddNodes(ctx, 3, ByCheck); err != nil || len(names) != 3 {
		t.Errorf("add: %q, %v", names, err)
	}
	if names, err := c.RemoveNodes(ctx, ByUser); err != nil || !slices.Equal(names, []string{"node-3"}) {
		t.Errorf("remove: %q, %v", names, err)
	}
	if did, err := c.Restore(ctx); err != nil || !slices.Equal(did, []string{"started etcd"}) {
		t.Errorf("restore: %q, %v", did, err)
	}
	if st, err := c.Components(ctx); err != nil || len(st) != 1 || st[0].PID != 7 || st[0].State != supervise.Running {
		t.Errorf("components: %+v, %v", st, err)
	}
	want := []string{"stop a b/c", "start a b/c", "restart a b/c", "kill a b/c", "compact ", "add check", "remove user", "restore "}
	if got := f.seen(); !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}

func TestErrorsKeepTheirCodeAndHint(t *testing.T) {
	f, _, c := serve(t, Options{Timeout: 50 * time.Millisecond})
	ctx := t.Context()
	_, tooMany := c.AddNodes(ctx, MaxNodes+1, ByUser)
	_, none := c.AddNodes(ctx, 0, ByUser)
	_, nobody := c.AddNodes(ctx, 1, "nobody")
	for name, tc := range map[string]struct {
		err        error
		code       int
		says, hint string
	}{
		"an error with a hint":    {c.Component(ctx, "stop", "unknown"), 404, `no component "unknown"`, "there are: a, b"},
		"an error without":        {c.Component(ctx, "stop", "bad"), 500, "it went wrong", ""},
		"out of time":             {c.Component(ctx, "start", "slow"), 504, `start "slow": not done within 50ms`, "LAB_START_TIMEOUT"},
		"no such verb":            {c.Component(ctx, "frob", "etcd"), 404, `can't be told to "frob"`, "there are: stop"},
		"a name that is a path":   {c.Component(ctx, "stop", ".."), 404, `no component ".."`, "status"},
		"a name that is empty":    {c.Component(ctx, "stop", ""), 404, `no component ""`, "status"},
		"more nodes than allowed": {tooMany, 400, "1001 is no number of nodes", "between 1 and 1000"},
		"no nodes":                {none, 400, "0 is no number of nodes", "between"},
		"nobody's nodes":          {nobody, 400, `nobody called "nobody"`, `"check"`},
	} {
		if tc.err == nil || codeOf(tc.err) != tc.code || !strings.Contains(tc.err.Error(), tc.says) || !strings.Contains(hintOf(tc.err), tc.hint) {
			t.Errorf("%s: %v (%d, hint %q); want %q (%d, %q)", name, tc.err, codeOf(tc.err), hintOf(tc.err), tc.says, tc.code, tc.hint)
		}
	}
	if got := f.seen(); len(got) != 3 {
		t.Errorf("what is refused was done: %q", got)
	}
}

// request sends one that a Client would not.
func request(t *testing.T, s *Server, method, path string, change func(*http.Request)) (int, string, Answer) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.address+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	change(req)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s is for browsers", name)
		}
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var a Answer
	_ = json.Unmarshal(data, &a) // what is no JSON has no error text
	return resp.StatusCode, string(data), a
}

func TestOnlyWhoHasTheTokenIsLetIn(t *testing.T) {
	f, s, _ := serve(t, Options{})
	for name, tc := range map[string]struct {
		change func(*http.Request)
		code   int
	}{
		"no token":           {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"an empty token":     {func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, 401},
		"another token":      {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.ToLower(s.token)) }, 401},
		"a part of it":       {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+s.token[1:]) }, 401},
		"the token alone":    {func(r *http.Request) { r.Header.Set("Authorization", s.token) }, 401},
		"basic":              {func(r *http.Request) { r.SetBasicAuth("", s.token) }, 401},
		"a name of DNS":      {func(r *http.Request) { r.Host = "evil.example.com" }, 403},
		"a name and port":    {func(r *http.Request) { r.Host = "evil.example.com" + s.address[strings.LastIndexByte(s.address, ':'):] }, 403},
		"localhost":          {func(r *http.Request) { r.Host = "localhost" + s.address[strings.LastIndexByte(s.address, ':'):] }, 403},
		"without a port":     {func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		"from a web page":    {func(r *http.Request) { r.Header.Set("Origin", "http://"+s.address) }, 403},
		"a sandboxed frame":  {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"a preflight":        {func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Set("Origin", "http://x") }, 403},
		"a GET of an action": {func(r *http.Request) { r.Method = http.MethodGet }, 404},
		"another path":       {func(r *http.Request) { r.URL.Path = "/v2/restore" }, 404},
		"with all that is":   {func(*http.Request) {}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(f.seen())
			code, body, a := request(t, s, http.MethodPost, "/v1/restore", tc.change)
			if code != tc.code || (code != 200 && (a.Error == "" || a.Hint == "")) {
				t.Errorf("%d %s, want %d and why", code, body, tc.code)
			}
			if strings.Contains(body, s.token) {
				t.Error("the answer holds the token")
			}
			if did := len(f.seen()) > before; did != (tc.code == 200) {
				t.Errorf("done: %v", did)
			}
		})
	}
}

func TestRequestsThatAreBroken(t *testing.T) {
	f, s, _ := serve(t, Options{})
	for _, body := range []string{"", "{", "[]", `{"count":"3"}`, `{"count":3,"by":"check","x":1}`, `{"count":1e99,"by":"check"}`,
		`{"count":3,"by":"` + strings.Repeat("x", 1<<20) + `"}`} {
		code, _, a := request(t, s, http.MethodPost, "/v1/nodes", func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		})
		if code != http.StatusBadRequest || a.Error == "" {
			t.Errorf("%.60q: %d %q", body, code, a.Error)
		}
	}
	if got := f.seen(); len(got) > 0 {
		t.Errorf("done: %q", got)
	}
}

func TestOneActionAtATime(t *testing.T) {
	f, _, c := serve(t, Options{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Component(t.Context(), "restart", "held"); err != nil {
			t.Error(err)
		}
	})
	eventually(t, func() bool { return len(f.seen()) == 1 })
	for range 5 {
		wg.Go(func() {
			if err := c.Component(t.Context(), "stop", "x"); err != nil {
				t.Error(err)
			}
		})
	}
	// How things are can be asked in the meantime.
	if _, err := c.Components(t.Context()); err != nil {
		t.Error(err)
	}
	// Who goes away before their turn has changed nothing.
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() { gone <- c.Component(ctx, "kill", "never") }()
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if got := f.seen(); len(got) != 1 {
		t.Errorf("at once: %q", got)
	}
	close(f.release)
	wg.Wait()
	if f.most != 1 || slices.Contains(f.seen(), "kill never") || len(f.seen()) != 6 {
		t.Errorf("%d at once: %q", f.most, f.seen())
	}
}

func TestCloseCutsOffWhoWaits(t *testing.T) {
	f, s, c := serve(t, Options{})
	done := make(chan error, 2)
	go func() { done <- c.Component(t.Context(), "start", "slow") }()
	eventually(t, func() bool { return len(f.seen()) == 1 })
	go func() { done <- c.Component(t.Context(), "stop", "next") }()
	s.Close()
	for range 2 {
		if err := <-done; err == nil || hintOf(err) == "" {
			t.Errorf("err = %v", err)
		}
	}
	if _, err := os.Stat(s.path); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file is left")
	}
	if err := c.Component(t.Context(), "stop", "x"); err == nil || !strings.Contains(err.Error(), "is down") || hintOf(err) == "" {
		t.Errorf("after the end: %v", err)
	}
	if l, err := net.Listen("tcp4", s.address); err != nil {
		t.Errorf("its port is still taken: %v", err)
	} else {
		_ = l.Close()
	}
}

func TestTheFileIsTheOwnersAlone(t *testing.T) {
	_, s, _ := serve(t, Options{})
	info, err := os.Stat(s.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	f, err := ReadFile(s.path)
	if err != nil || f.URL != "http://"+s.address || !strings.HasPrefix(s.address, "127.0.0.1:") || len(f.Token) < 26 {
		t.Errorf("%+v, %v", f, err)
	}
	other, err := Serve(filepath.Join(t.TempDir(), "control"), &fake{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if other.token == s.token {
		t.Error("two starts, one token")
	}
}

func TestAFolderThatIsGone(t *testing.T) {
	if _, err := Serve(filepath.Join(t.TempDir(), "gone", "control"), &fake{}, Options{}); err == nil || !strings.HasPrefix(err.Error(), "open the control endpoint: ") {
		t.Errorf("err = %v", err)
	}
}

// A file that a kill -9 left leads to nobody, or to somebody else.
func TestAFileThatIsStale(t *testing.T) {
	closed, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"did":["nothing"]}`) }))
	defer stranger.Close()
	for name, data := range map[string]string{
		"nobody":    `{"url":"http://` + closed.Addr().String() + `","token":"x"}`,
		"a strange": `{"url":"` + stranger.URL + `","token":"x"}`,
		"no token":  `{"url":"http://127.0.0.1:1"}`,
		"no URL":    `{"url":"\n","token":"x"}`,
		"half":      `{"url":`,
		"empty":     ``,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "control")
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			did, err := NewClient(path).Restore(t.Context())
			if err == nil || hintOf(err) == "" || len(did) > 0 {
				t.Errorf("%q, %v, hint %q", did, err, hintOf(err))
			}
		})
	}
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			t.Fatal("not within 10 s")
		case <-time.After(2 * time.Millisecond):
		}
	}
}
