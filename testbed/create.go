package testbed

import (
	"fmt"
	"maps"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	var next atomic.Int64
	worker := func() error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(objects) {
				return nil
			}
			if err := b.create(objects[i]); err != nil {
				return err
			}
		}
	}
	workers := make([]func() error, min(creators, len(objects)))
	for i := range workers {
		workers[i] = worker
	}
	b.Must(together(workers...), "lay out the check's objects")
}

func (b *Bed) create(o Object) error {
	kinds, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil {
		return err
	}
	gvk := kinds[0]
	plural, _ := meta.UnsafeGuessKindToResource(gvk) // right for Kubernetes' own types
	prefix := []string{"apis", gvk.Group, gvk.Version}
	if gvk.Group == "" {
		prefix = []string{"api", gvk.Version}
	}
	o.SetNamespace(b.namespace)
	path := append(prefix, "namespaces", b.namespace, plural.Resource)
	err = b.clients.CoreV1().RESTClient().Post().AbsPath(path...).Body(o).Do(b.Context()).Into(o)
	if err != nil {
		return fmt.Errorf("make %s %s: %w", gvk.Kind, o.GetName(), err)
	}
	return nil
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
