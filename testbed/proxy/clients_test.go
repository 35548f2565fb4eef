package proxy

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClientsAreToldApart(t *testing.T) {
	var mu sync.Mutex
	var users []string
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		users = append(users, r.Header.Get("Impersonate-User"))
	})
	bearer := func(name string) http.Header {
		return http.Header{"Authorization": {"Bearer " + w.ConfigOf(name).BearerToken}}
	}
	assert.Equal(t, w.Config(), w.ConfigOf(""))
	assert.Equal(t, w.ConfigOf("a").BearerToken, w.ConfigOf("a").BearerToken)
	assert.NotEqual(t, w.ConfigOf("a").BearerToken, w.ConfigOf("b").BearerToken)
	assert.NotEqual(t, w.ConfigOf("a").BearerToken, w.Config().BearerToken)

	const path = "/api/v1/namespaces/ns/pods"
	h := w.Faults().Add(Rule{Match: Match{Client: "b"}, Status: http.StatusTooManyRequests})
	for _, tc := range []struct {
		name   string
		status int
	}{{"", 200}, {"a", 200}, {"b", 429}, {"a", 200}, {"b", 429}} {
		res, _ := w.do(t, "GET", path, nil, bearer(tc.name))
		assert.Equal(t, tc.status, res.StatusCode, "client %q", tc.name)
	}
	assert.Equal(t, 2, h.Hits())
	res, _ := w.do(t, "GET", path, nil, http.Header{"Authorization": {"Bearer a"}})
	assert.Equal(t, http.StatusUnauthorized, res.StatusCode, "a name is no token")
	res, _ = w.do(t, "GET", path, nil, http.Header{"Authorization": {"Bearer "}})
	assert.Equal(t, http.StatusUnauthorized, res.StatusCode)

	for client, want := range map[string]int{"": 7, None: 3, "a": 2, "b": 2, "c": 0} {
		assert.Equal(t, want, w.Traffic().Count(Match{Client: client}), "client %q", client)
	}
	assert.Equal(t, "GET "+path+"   200  0 B  from a", w.Traffic().Requests(Match{Client: "a"})[0].String())
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []string{w.as.UserName, w.as.UserName, w.as.UserName}, users, "all are one user")
}

func TestATokenIsMadeOnce(t *testing.T) {
	var c clients
	var wg sync.WaitGroup
	got := make([]string, 64)
	for i := range got {
		wg.Go(func() { got[i] = c.token(fmt.Sprint("c", i%4)) })
	}
	wg.Wait()
	for i, token := range got {
		assert.Equal(t, got[i%4], token)
		assert.Len(t, token, 26)
	}
	assert.Len(t, c.tokens, 4)
}
