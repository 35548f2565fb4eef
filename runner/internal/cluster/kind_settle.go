package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// leaders are the components that work only once they hold their lease. After a
// restart a node's are there at once, and wait for the lease of those who died with
// it to end.
var leaders = []string{"kube-controller-manager", "kube-scheduler"}

// settled waits until somebody renews every leader's lease: before that nothing
// becomes of a Deployment.
func (k *kind) settled(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	first, renewed := map[string]string{}, map[string]bool{}
	for {
		for _, name := range leaders {
			at := k.renewed(ctx, name)
			if first[name] == "" {
				first[name] = at
			} else if at != "" && at != first[name] {
				renewed[name] = true
			}
		}
		if len(renewed) == len(leaders) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// renewed is when a component last renewed its lease, as the API server has it, or
// "".
func (k *kind) renewed(ctx context.Context, name string) string {
	a, err := ask(ctx, k.own(), "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/"+name)
	if err != nil || a.status != http.StatusOK {
		return ""
	}
	var lease struct{ Spec struct{ RenewTime string } }
	if json.Unmarshal(a.body, &lease) != nil {
		return ""
	}
	return lease.Spec.RenewTime
}
