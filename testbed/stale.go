package testbed

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/controllings/controllings/testbed/internal/ours"
)

// maxStale bounds what one check clears away of what others left.
const maxStale = 10

var collectOnce sync.Once // a process

// collectStale removes the beds whose check was killed. It runs beside the check
// and tries its best: what it doesn't get done, the next one does.
func (b *Bed) collectStale(ctx context.Context) {
	list, err := b.clients.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: ours.Selector})
	if err != nil {
		return
	}
	var all []schema.GroupVersionResource // asked for when the first stale bed is found
	left := maxStale
	for _, ns := range list.Items {
		if left == 0 || ctx.Err() != nil {
			return
		}
		if ns.Name == b.namespace || !ours.Stale(&ns, time.Now()) {
			continue
		}
		left--
		if all == nil {
			if all, err = ours.Namespaced(b.clients.Discovery()); err != nil {
				return
			}
		}
		// Whoever began to use it meanwhile has renewed its heartbeat, and keeps it.
		seen := &metav1.Preconditions{UID: &ns.UID, ResourceVersion: &ns.ResourceVersion}
		if ns.DeletionTimestamp != nil {
			seen.ResourceVersion = nil // it goes anyway, and its status changes all the time
		}
		_ = ours.RemoveNamespace(ctx, b.admin, b.clients, ns.Name, seen, all)
	}
}
