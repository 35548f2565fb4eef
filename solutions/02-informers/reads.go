package informers

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// Reader answers questions about the Pods of one namespace from a copy of them.
// An answer costs no request, whatever was asked and by however many goroutines at
// once, and may be a moment behind the API server.
type Reader struct {
	pods corelisters.PodNamespaceLister
}

// NewReader returns a Reader whose copy is whole. The copy follows the API server
// until ctx ends; one watch keeps it up to date.
func NewReader(ctx context.Context, client kubernetes.Interface, namespace string) (*Reader, error) {
	pods, err := SyncedPods(ctx, client, namespace)
	if err != nil {
		return nil, fmt.Errorf("make a reader: %w", err)
	}
	return &Reader{pods: pods}, nil
}

// Phase returns the phase of a Pod. For a Pod that isn't in the copy the error is
// a NotFound (apierrors.IsNotFound).
func (r *Reader) Phase(name string) (corev1.PodPhase, error) {
	pod, err := r.pods.Get(name)
	if err != nil {
		return "", fmt.Errorf("read the phase of Pod %q: %w", name, err)
	}
	return pod.Status.Phase, nil
}

// OfApp returns the names, sorted, of the Pods that carry the label app=<app>. app
// is a value, and never read as more of a selector: one that no Pod carries gives no
// names; one that can't be a label's value may be an error.
func (r *Reader) OfApp(app string) ([]string, error) {
	pods, err := r.pods.List(labels.Set{"app": app}.AsSelector())
	if err != nil {
		return nil, fmt.Errorf("list the Pods of app %q: %w", app, err)
	}
	names := make([]string, 0, len(pods))
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	slices.Sort(names) // a lister returns what it has in no order
	return names, nil
}
