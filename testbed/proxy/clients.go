package proxy

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
)

// clients are the names whose requests a proxy tells apart, each by a token of
// its own: a user agent could be chosen by the learner's code, and two processes
// of one program have the same.
type clients struct {
	mu     sync.Mutex
	tokens map[string]string // by name
}

// token returns the token of a name, and makes it when it is first asked for.
func (c *clients) token(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	token, ok := c.tokens[name]
	if !ok {
		token = rand.Text()
		if c.tokens == nil {
			c.tokens = map[string]string{}
		}
		c.tokens[name] = token
	}
	return token
}

// of tells whose token a request bears.
func (c *clients) of(r *http.Request) (name string, ok bool) {
	got, bears := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bears {
		return "", false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for n, token := range c.tokens {
		if subtle.ConstantTimeCompare([]byte(got), []byte(token)) == 1 {
			name, ok = n, true
		}
	}
	return name, ok
}
