package plane

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// api is as much of a Kubernetes client as the supervisor needs. client-go
// would do more, and make every test of this package wait for its linking.
type api struct {
	server string
	client *http.Client
}

func newAPI(server string, t *tls.Config) *api {
	return &api{server: server, client: &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: t, ForceAttemptHTTP2: true},
	}}
}

func (a *api) do(ctx context.Context, method, path string, body any) (int, error) {
	status, _, err := a.send(ctx, method, path, "", body)
	return status, err
}

// get reads what is at path into an object, in the form that accept names; "" is
// plain JSON.
func (a *api) get(ctx context.Context, path, accept string, into any) error {
	_, answer, err := a.send(ctx, http.MethodGet, path, accept, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// most of an answer that is read: a thousand nodes are some megabytes.
const most = 16 << 20

// send sends a request. The error of an answer that is none of the 200s holds
// the beginning of it.
func (a *api) send(ctx context.Context, method, path, accept string, body any) (int, []byte, error) {
	var r io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.server+path, r)
	if err != nil {
		return 0, nil, err
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return 0, nil, err
	}
	if resp.StatusCode >= 300 {
		said := strings.TrimSpace(string(answer[:min(len(answer), 4096)]))
		return resp.StatusCode, nil, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, said)
	}
	return resp.StatusCode, answer, nil
}

// listens returns nil when the API server answers anything at all.
func (a *api) listens(ctx context.Context) error {
	if code, err := a.do(ctx, http.MethodGet, "/livez/ping", nil); code == 0 {
		return err
	}
	return nil
}

// ready returns nil when the API server says that it is.
func (a *api) ready(ctx context.Context) error {
	_, err := a.do(ctx, http.MethodGet, "/readyz", nil)
	return err
}

// usable returns nil when a Pod could be made in the default namespace: it needs
// the ServiceAccount, which the controller manager makes.
func (a *api) usable(ctx context.Context) error {
	_, err := a.do(ctx, http.MethodGet, "/api/v1/namespaces/default/serviceaccounts/default", nil)
	return err
}
