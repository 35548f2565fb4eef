package testbed

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeControl plays the control endpoint: it notes what it is told, and keeps the
// state of one component.
type fakeControl struct {
	file string

	mu    sync.Mutex
	calls []string
	state string // of the API server
	fail  bool
}

func newFakeControl(t *testing.T) *fakeControl {
	t.Helper()
	f := &fakeControl{file: filepath.Join(t.TempDir(), "control"), state: "running"}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	data, err := json.Marshal(map[string]string{"url": server.URL, "token": "word"})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(f.file, data, 0o600))
	return f
}

func (f *fakeControl) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body := ""
	if r.Method == http.MethodPost && r.ContentLength > 0 {
		var ask struct {
			Count int
			By    string
		}
		_ = json.NewDecoder(r.Body).Decode(&ask)
		body = " by " + ask.By
	}
	f.calls = append(f.calls, r.Method+" "+r.URL.RequestURI()+body)
	say := func(code int, v any) {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(v)
	}
	switch path := r.URL.Path; {
	case r.Header.Get("Authorization") != "Bearer word":
		say(http.StatusUnauthorized, map[string]string{"error": "no token"})
	case f.fail:
		say(http.StatusConflict, map[string]string{"error": "etcd is stopped", "hint": "start it first"})
	case strings.HasSuffix(path, "/stop"):
		f.state = "stopped"
		say(http.StatusOK, struct{}{})
	case strings.HasSuffix(path, "/start"), strings.HasSuffix(path, "/restart"), path == "/v1/restore":
		f.state = "running"
		say(http.StatusOK, struct{}{})
	case path == "/v1/nodes" && r.Method == http.MethodPost:
		say(http.StatusOK, map[string]any{"nodes": []string{"node-3", "node-4"}})
	case path == "/v1/components":
		say(http.StatusOK, map[string]any{"components": []any{map[string]any{"name": APIServer, "state": f.state, "pid": 7}}})
	default:
		say(http.StatusOK, map[string]any{"revision": 7})
	}
}

func (f *fakeControl) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.calls...)
}
