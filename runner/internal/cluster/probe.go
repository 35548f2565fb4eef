package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/controllings/controllings/runner/internal/hint"
)

// Probe returns nil when the API server that a kubeconfig names says that it is
// ready. It asks /readyz, which answers everyone: a kubeconfig that gets its
// credentials from a program or a login can be probed too, only not its
// credentials.
func Probe(ctx context.Context, kubeconfig string) error {
	a, err := ask(ctx, kubeconfig, "/readyz")
	if err != nil {
		return err
	}
	refused := a.status == http.StatusUnauthorized || a.status == http.StatusForbidden
	switch {
	case a.status == http.StatusOK:
		return nil
	case refused && !a.credentials:
		return nil // it is there, and only does not talk to strangers
	case refused:
		return hint.New("the cluster was made anew or the kubeconfig is of another one: make cluster-up", "the API server refuses the kubeconfig's credentials: %s", a.text)
	}
	return errors.Join(fmt.Errorf("the API server is not ready: %s", a.text), notReady(string(a.body)))
}

// answer of an API server.
type answer struct {
	status      int
	text        string // of the status
	body        []byte // its beginning
	credentials bool   // some were shown
}

// ask sends a GET to the API server that a kubeconfig names.
func ask(ctx context.Context, kubeconfig, path string) (*answer, error) {
	t, err := readTarget(kubeconfig)
	if err != nil {
		return nil, err
	}
	client, err := t.client()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(t.server, "/")+path, nil)
	if err != nil {
		return nil, fmt.Errorf("ask the API server: %w", err)
	}
	if t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, hint.New("is the cluster up? make cluster-up", "ask the API server: %w", err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // to show, or to read a few words from
	return &answer{resp.StatusCode, resp.Status, body, t.credentials}, nil
}

// notReady picks the checks that fail from the answer of /readyz.
func notReady(body string) error {
	var failing []string
	for _, l := range strings.Split(body, "\n") {
		if strings.HasPrefix(l, "[-]") {
			failing = append(failing, strings.TrimPrefix(l, "[-]"))
		}
	}
	if len(failing) == 0 {
		return nil
	}
	return errors.New(strings.Join(failing, "\n"))
}
