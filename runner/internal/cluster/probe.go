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
	t, err := readTarget(kubeconfig)
	if err != nil {
		return err
	}
	client, err := t.client()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(t.server, "/")+"/readyz", nil)
	if err != nil {
		return fmt.Errorf("ask the API server: %w", err)
	}
	if t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return hint.New("is the cluster up? make cluster-up", "ask the API server: %w", err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // only to show
	refused := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
	switch {
	case resp.StatusCode == http.StatusOK:
		return nil
	case refused && !t.credentials:
		return nil // it is there, and only does not talk to strangers
	case refused:
		return hint.New("the cluster was made anew or the kubeconfig is of another one: make cluster-up", "the API server refuses the kubeconfig's credentials: %s", resp.Status)
	}
	return errors.Join(fmt.Errorf("the API server is not ready: %s", resp.Status), notReady(string(body)))
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
