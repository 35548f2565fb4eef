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

	"github.com/controllings/controllings/controlplane/component"
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
	var r io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.server+path, r)
	if err != nil {
		return 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return 0, err
	}
	if resp.StatusCode >= 300 {
		return resp.StatusCode, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, strings.TrimSpace(string(answer)))
	}
	return resp.StatusCode, nil
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

// makeNodes makes the simulated nodes node-1 … node-n. One that exists stays.
func (a *api) makeNodes(ctx context.Context, n int) error {
	for i := 1; i <= n; i++ {
		name := fmt.Sprintf("node-%d", i)
		status, err := a.do(ctx, http.MethodPost, "/api/v1/nodes", map[string]any{
			"apiVersion": "v1",
			"kind":       "Node",
			"metadata": map[string]any{
				"name":        name,
				"annotations": map[string]string{component.NodeAnnotation: "fake"},
				"labels": map[string]string{
					"kubernetes.io/hostname": name,
					"kubernetes.io/os":       "linux",
					"type":                   "kwok",
				},
			},
			"status": map[string]any{
				// Real sizes, so that a Pod which asks for too much stays Pending.
				"allocatable": nodeSize,
				"capacity":    nodeSize,
			},
		})
		if err != nil && status != http.StatusConflict {
			return fmt.Errorf("make node %q: %w", name, err)
		}
	}
	return nil
}

var nodeSize = map[string]string{"cpu": "32", "memory": "256Gi", "pods": "1000"}
