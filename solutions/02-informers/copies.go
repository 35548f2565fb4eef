package informers

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// SetLabel gives a ConfigMap a label and returns the ConfigMap as the API server
// stored it. What there is to do it learns from settings, which belong to an
// informer and to everybody who reads from it: where they have that label with that
// value, no request is sent; else one, the write. The result is the caller's, to
// change at will.
//
// What somebody else has changed since is not lost: the write leaves it alone, or is
// refused with a Conflict, which is returned. A ConfigMap that settings don't have is
// a NotFound (apierrors.IsNotFound), and no request.
func SetLabel(ctx context.Context, client kubernetes.Interface, settings corelisters.ConfigMapNamespaceLister, name, label, value string) (*corev1.ConfigMap, error) {
	cached, err := settings.Get(name)
	if err != nil {
		return nil, fmt.Errorf("label ConfigMap %q: %w", name, err)
	}
	own := cached.DeepCopy()
	if current, ok := own.Labels[label]; ok && current == value {
		return own, nil
	}
	metav1.SetMetaDataLabel(&own.ObjectMeta, label, value)
	updated, err := client.CoreV1().ConfigMaps(own.Namespace).Update(ctx, own, metav1.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("label ConfigMap %q: %w", name, err)
	}
	return updated, nil
}

// ContainersByName returns the containers of a Pod in the order of their names. The
// Pod comes from a lister and stays as it is. The result is the caller's, to change
// at will.
func ContainersByName(pod *corev1.Pod) []corev1.Container {
	containers := pod.DeepCopy().Spec.Containers
	slices.SortFunc(containers, func(a, b corev1.Container) int { return cmp.Compare(a.Name, b.Name) })
	return containers
}
