package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/controllings/controllings/controlplane/supervise"
)

// Client asks the endpoint that a file names. Its errors are *Error, with a hint.
type Client struct{ path string }

// NewClient returns a client for the file at path, which is read at each call: a
// control plane that was started anew has another address.
func NewClient(path string) *Client { return &Client{path: path} }

// Components is how the components are.
func (c *Client) Components(ctx context.Context) ([]supervise.Status, error) {
	a, err := c.do(ctx, http.MethodGet, "/v1/components", nil)
	return a.Components, err
}

// Component does one of the verbs "stop", "start", "restart" and "kill" to a
// component.
func (c *Client) Component(ctx context.Context, verb, name string) error {
	if name == "" || name == "." || name == ".." { // a path would be made of it
		return &Error{Code: http.StatusNotFound, Err: fmt.Errorf("no component %q", name), Hint: "lab cluster status lists them"}
	}
	_, err := c.do(ctx, http.MethodPost, "/v1/components/"+url.PathEscape(name)+"/"+url.PathEscape(verb), nil)
	return err
}

// Compact makes the API server forget all that was before, which may take a
// quarter of a minute; it returns the oldest revision that is left.
func (c *Client) Compact(ctx context.Context) (revision int64, err error) {
	a, err := c.do(ctx, http.MethodPost, "/v1/compact", nil)
	return a.Revision, err
}

// AddNodes adds n simulated nodes and returns their names when they are ready.
func (c *Client) AddNodes(ctx context.Context, n int, by string) ([]string, error) {
	a, err := c.do(ctx, http.MethodPost, "/v1/nodes", map[string]any{"count": n, "by": by})
	return a.Nodes, err
}

// RemoveNodes removes the nodes that somebody added, with "" those of all, and
// returns their names.
func (c *Client) RemoveNodes(ctx context.Context, by string) ([]string, error) {
	a, err := c.do(ctx, http.MethodDelete, "/v1/nodes?by="+url.QueryEscape(by), nil)
	return a.Nodes, err
}

// Restore starts what is stopped and removes the nodes of checks; it returns
// what was done, a line each.
func (c *Client) Restore(ctx context.Context) ([]string, error) {
	a, err := c.do(ctx, http.MethodPost, "/v1/restore", nil)
	return a.Did, err
}

// transport leads to loopback and nowhere else: no proxy, whatever the
// environment says.
var transport = &http.Transport{
	DialContext:       (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	DisableKeepAlives: true, // one request a process, as a rule
}

func (c *Client) do(ctx context.Context, method, path string, body any) (Answer, error) {
	var a Answer
	f, err := ReadFile(c.path)
	if err != nil {
		return a, err
	}
	var r io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return a, err
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, f.URL+path, r)
	if err != nil {
		return a, &Error{Err: fmt.Errorf("read %q: %w", c.path, err), Hint: "start the cluster anew: lab cluster down, then lab cluster up"}
	}
	req.Header.Set("Authorization", "Bearer "+f.Token)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return a, fmt.Errorf("ask the control plane: %w", context.Cause(ctx))
		}
		return a, stale(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get(mark) == "" {
		return a, stale(errors.New("another program has its port"))
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&a); err != nil {
		return a, stale(err)
	}
	if resp.StatusCode != http.StatusOK {
		return a, &Error{Code: resp.StatusCode, Err: errors.New(a.Error), Hint: a.Hint}
	}
	return a, nil
}

// stale says that the file is of a control plane that is gone.
func stale(err error) error {
	return &Error{Code: http.StatusServiceUnavailable, Err: fmt.Errorf("the control plane does not answer, it may have been killed: %w", err), Hint: "lab cluster status says how it is; lab cluster up starts it"}
}
