package testbed

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxExternalBody bounds what a call may send, in bytes.
const maxExternalBody = 64 << 10

// creation is what an idempotency key has made, and with what.
type creation struct {
	key, body string
	object    ExternalObject
}

// externalAnswer is what the service says.
type externalAnswer struct {
	status     int
	value      any // nil: no body
	retryAfter time.Duration
}

func refused(status int, format string, args ...any) externalAnswer {
	return externalAnswer{status: status, value: map[string]string{"error": fmt.Sprintf(format, args...)}}
}

func (e *External) serve(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxExternalBody))
	client, key, found := splitPath(r.URL)
	call := e.begin(Call{
		Method: r.Method, Key: key, Client: client, IdempotencyKey: r.Header.Get("Idempotency-Key"), Body: string(text),
	})
	defer e.end(call, 0)
	if err != nil {
		e.reply(w, call, refused(http.StatusRequestEntityTooLarge, "read the body: %v", err))
		return
	}
	if !found {
		e.reply(w, call, refused(http.StatusNotFound, "there is no %s: objects are at /objects/KEY", r.URL.Path))
		return
	}
	rule := ExternalRule{}
	if h := e.take(*call); h != nil {
		rule = h.rule
		e.note(call, func(c *Call) { c.Fault = true })
		if rule.Before != nil {
			rule.Before()
		}
		if !h.wait(r.Context()) {
			panic(http.ErrAbortHandler)
		}
		if rule.Status != 0 {
			if rule.Message == "" {
				rule.Message = "the check put this answer in: " + http.StatusText(rule.Status)
			}
			a := refused(rule.Status, "%s", rule.Message)
			a.retryAfter = rule.RetryAfter
			e.reply(w, call, a)
			return
		}
	}
	a := e.work(call)
	if rule.Done != nil {
		rule.Done()
	}
	if rule.Lose {
		panic(http.ErrAbortHandler) // breaks the connection
	}
	e.reply(w, call, a)
}

// splitPath takes "/objects/KEY" or "/as/CLIENT/objects/KEY" apart.
func splitPath(u *url.URL) (client, key string, ok bool) {
	path := u.Path
	if rest, as := strings.CutPrefix(path, "/as/"); as {
		client, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	if path == "/objects" {
		return client, "", true
	}
	key, ok = strings.CutPrefix(path, "/objects/")
	return client, key, ok
}

func (e *External) begin(c Call) *Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.Start = time.Now()
	e.calls = append(e.calls, &c)
	return &c
}

// note changes a call in the record.
func (e *External) note(c *Call, how func(*Call)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	how(c)
}

// end notes that a call is over, once.
func (e *External) end(c *Call, status int) {
	e.note(c, func(c *Call) {
		if !c.Done {
			c.Done, c.Status, c.Duration = true, status, time.Since(c.Start)
		}
	})
}

// work does what was asked, whole or not at all.
func (e *External) work(c *Call) externalAnswer {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.do(c)
	c.Worked = a.status < 300
	return a
}

func (e *External) do(c *Call) externalAnswer {
	objects := e.objectsOf(c.Key)
	var body any
	if c.Body != "" && json.Unmarshal([]byte(c.Body), &body) != nil {
		return refused(http.StatusBadRequest, "the body is no JSON")
	}
	switch c.Method {
	case http.MethodGet:
		if len(objects) == 0 && c.Key != "" {
			return refused(http.StatusNotFound, "there is no object of %q", c.Key)
		}
		if objects == nil {
			objects = []ExternalObject{} // a list, in JSON too
		}
		return externalAnswer{status: http.StatusOK, value: objects}
	case http.MethodPost, http.MethodPut, http.MethodDelete:
		if c.Key == "" {
			return refused(http.StatusBadRequest, "a key is needed: /objects/KEY")
		}
	default:
		return refused(http.StatusMethodNotAllowed, "the method %s is not known here", c.Method)
	}
	switch {
	case c.Method == http.MethodDelete:
		if e.remove(c.Key) == 0 {
			return refused(http.StatusNotFound, "there is no object of %q", c.Key)
		}
		return externalAnswer{status: http.StatusNoContent}
	case c.Method == http.MethodPut && len(objects) > 0:
		for i := range e.objects {
			if e.objects[i].ID == objects[0].ID {
				e.objects[i].Body = body
				return externalAnswer{status: http.StatusOK, value: e.objects[i]}
			}
		}
	case c.Method == http.MethodPost && c.IdempotencyKey != "":
		was, again := e.made[c.IdempotencyKey]
		if again && (was.key != c.Key || was.body != c.Body) {
			return refused(http.StatusUnprocessableEntity, "the idempotency key %q has been used for something else", c.IdempotencyKey)
		}
		if again {
			return externalAnswer{status: http.StatusOK, value: was.object}
		}
	}
	o := e.add(c.Key, body)
	if c.IdempotencyKey != "" {
		e.made[c.IdempotencyKey] = creation{key: c.Key, body: c.Body, object: o}
	}
	return externalAnswer{status: http.StatusCreated, value: o}
}

// reply answers, and notes the answer before the caller can have it.
func (e *External) reply(w http.ResponseWriter, c *Call, a externalAnswer) {
	e.end(c, a.status)
	if a.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((a.retryAfter+time.Second-1)/time.Second)))
	}
	if a.value == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.value) // a caller that has gone away is no matter
}
