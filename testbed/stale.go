package testbed

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// staleAfter is how old a heartbeat may be: ten missed ones, so that a
	// laptop's nap between two of them kills nobody's bed.
	staleAfter = 10 * heartbeatPeriod
	// maxStale bounds what one check clears away of what others left.
	maxStale = 10
)

var collectOnce sync.Once // a process

// collectStale removes the beds whose check was killed. It runs beside the check
// and tries its best: what it doesn't get done, the next one does.
func (b *Bed) collectStale(ctx context.Context) {
	list, err := b.clients.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: ownerLabel + "=" + ownerValue})
	if err != nil {
		return
	}
	var all []resource // asked for when the first stale bed is found
	left := maxStale
	for _, ns := range list.Items {
		if left == 0 || ctx.Err() != nil {
			return
		}
		if ns.Name == b.namespace || !isStale(&ns, time.Now()) {
			continue
		}
		left--
		if all == nil {
			if all, err = b.namespacedResources(ctx); err != nil {
				return
			}
		}
		// Whoever began to use it meanwhile has renewed its heartbeat, and keeps it.
		seen := &metav1.Preconditions{UID: &ns.UID, ResourceVersion: &ns.ResourceVersion}
		if ns.DeletionTimestamp != nil {
			seen.ResourceVersion = nil // it goes anyway, and its status changes all the time
		}
		_ = removeNamespace(ctx, b, ns.Name, seen, all)
	}
}

// isStale reports whether nobody uses the bed any more. One that is being deleted
// is given the same time before its finalizers are looked at.
func isStale(ns *corev1.Namespace, now time.Time) bool {
	limit := staleAfter
	switch {
	case ns.Labels[ownerLabel] != ownerValue:
		return false
	case strings.HasPrefix(ns.Name, namespacePrefix):
	case strings.HasPrefix(ns.Name, sharedPrefix) && ns.DeletionTimestamp == nil:
		limit = sharedStale // it has no heartbeat but its uses
	case strings.HasPrefix(ns.Name, sharedPrefix):
	default:
		return false
	}
	last, err := time.Parse(time.RFC3339, ns.Annotations[heartbeatAnnotation])
	if err != nil {
		last = ns.CreationTimestamp.Time
	}
	if ns.DeletionTimestamp != nil && ns.DeletionTimestamp.After(last) {
		last = ns.DeletionTimestamp.Time
	}
	return now.Sub(last) > limit
}

// namespacedResources lists all types whose objects can hold a namespace back.
func (b *Bed) namespacedResources(ctx context.Context) ([]resource, error) {
	_, lists, err := b.clients.Discovery().ServerGroupsAndResources()
	if err != nil && len(lists) == 0 {
		return nil, fmt.Errorf("list the API's types: %w", err)
	}
	var all []resource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			verbs := strings.Join(r.Verbs, " ")
			if r.Namespaced && strings.Contains(verbs, "list") && strings.Contains(verbs, "patch") && !strings.Contains(r.Name, "/") {
				all = append(all, resource{GroupVersionResource: gv.WithResource(r.Name)})
			}
		}
	}
	return all, ctx.Err()
}
