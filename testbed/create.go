package testbed

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Object is a typed object of Kubernetes' own API, such as *corev1.Pod.
type Object interface {
	metav1.Object
	runtime.Object
}

// creators is how many objects Create makes at once.
const creators = 8

// Create makes the objects in the bed's namespace as Admin, several at a time, and
// fills in what the API server made of them. If one can't be made, the check
// ends with "error".
func (b *Bed) Create(objects ...Object) {
	b.t.Helper()
	b.Must(b.createAll(b.Context(), b.namespace, objects, nil), "lay out the check's objects")
}

// createAll makes the objects in a namespace. An error that ignore says nothing
// about ends it; nil ignores none.
func (b *Bed) createAll(ctx context.Context, namespace string, objects []Object, ignore func(error) bool) error {
	var next atomic.Int64
	worker := func() error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(objects) {
				return nil
			}
			if err := b.create(ctx, namespace, objects[i]); err != nil && (ignore == nil || !ignore(err)) {
				return err
			}
		}
	}
	workers := make([]func() error, min(creators, len(objects)))
	for i := range workers {
		workers[i] = worker
	}
	return together(workers...)
}

func (b *Bed) create(ctx context.Context, namespace string, o Object) error {
	gvk, gvr, err := typeOf(o)
	if err != nil {
		return err
	}
	prefix := []string{"apis", gvk.Group, gvk.Version}
	if gvk.Group == "" {
		prefix = []string{"api", gvk.Version}
	}
	o.SetNamespace(namespace)
	path := append(prefix, "namespaces", namespace, gvr.Resource)
	err = b.clients.CoreV1().RESTClient().Post().AbsPath(path...).Body(o).Do(ctx).Into(o)
	if err != nil {
		return fmt.Errorf("make %s %s: %w", gvk.Kind, o.GetName(), err)
	}
	return nil
}

// typeOf tells an object's kind and resource.
func typeOf(o Object) (schema.GroupVersionKind, schema.GroupVersionResource, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil {
		return schema.GroupVersionKind{}, schema.GroupVersionResource{}, err
	}
	plural, _ := meta.UnsafeGuessKindToResource(kinds[0]) // right for Kubernetes' own types
	return kinds[0], plural, nil
}

// CreatePods makes n Pods with these labels, as Create does, and returns them as
// they were just after. They run on simulated nodes: Ready comes a moment later,
// and no container is ever started. Their names are "pod-…".
func (b *Bed) CreatePods(n int, labels map[string]string) []*corev1.Pod {
	b.t.Helper()
	pods := make([]*corev1.Pod, n)
	objects := make([]Object, n)
	for i := range pods {
		pods[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-", Labels: maps.Clone(labels)},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/pause"}}},
		}
		objects[i] = pods[i]
	}
	b.Create(objects...)
	return pods
}
