package sharing

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

// Copier makes copies right, one at a time.
type Copier struct {
	Client kubernetes.Interface
	Caches *Caches
	Queue  Queue  // for keys that have to be looked at again later
	Source string // the namespace that is copied from
}

// Sync makes one copy right. Whoever calls it tries again after an error.
func (c *Copier) Sync(ctx context.Context, key Key) error {
	now := time.Now()
	requests := c.requests(key)
	if err := c.repair(ctx, key, c.desired(key, requests, now)); err != nil {
		return err
	}
	for _, r := range requests {
		if !r.Until.IsZero() {
			Recheck(c.Queue, key, requests, now) // no event tells of a request's end
			break
		}
	}
	return nil
}

// requests are those of the key's namespace for this copy.
func (c *Copier) requests(key Key) []Request {
	var found []Request
	for _, cm := range c.Caches.List(key.Namespace) {
		if r, ok := RequestOf(cm); ok && r.Source == key.Name {
			found = append(found, r)
		}
	}
	return found
}

// desired is the copy as it should be, or nil where there should be none: nobody
// asks for it, or its source is gone or not shared.
func (c *Copier) desired(key Key, requests []Request, now time.Time) *corev1.ConfigMap {
	source := c.Caches.Get(c.Source, key.Name)
	if source == nil || source.Labels[LabelShared] != "true" {
		return nil
	}
	for _, r := range requests {
		if !r.Ended(now) {
			return NewCopy(source, key.Namespace)
		}
	}
	return nil
}
