package sharing

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// repair compares what is there, in the cache, with what should be there, and
// sends the one request that makes up the difference, or none if there is no
// difference. It asks the API server nothing, and doesn't know what has happened.
//
// desired is the copy as it should be, nil if there should be none. What is there
// under that name may be
//
//   - nothing;
//   - a copy (IsCopy). It should have desired's data and binary data. Labels and
//     annotations that others put on it stay;
//   - somebody else's. It is never written, never deleted, and an error says so
//     where a copy should be.
//
// The cache may be late. A ConfigMap that has changed since, or is another one by
// now, is neither overwritten nor deleted: the API server refuses the request, and
// its error is returned, as any other error is. A copy that is gone needs no
// deleting, and that is no error.
func (c *Copier) repair(ctx context.Context, key Key, desired *corev1.ConfigMap) error {
	configMaps := c.Client.CoreV1().ConfigMaps(key.Namespace)
	actual := c.Caches.Get(key.Namespace, key.Name)
	ours := actual != nil && IsCopy(actual, c.Source)

	switch {
	case desired == nil && !ours:
		return nil

	case desired == nil:
		err := configMaps.Delete(ctx, key.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{
			UID: &actual.UID, ResourceVersion: &actual.ResourceVersion,
		}})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete the copy %s: %w", key, err)
		}
		return nil

	case actual == nil:
		if _, err := configMaps.Create(ctx, desired, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create the copy %s: %w", key, err)
		}
		return nil

	case !ours:
		return fmt.Errorf("copy to %s: a ConfigMap of that name is there and is no copy", key)

	case equality.Semantic.DeepEqual(actual.Data, desired.Data) &&
		equality.Semantic.DeepEqual(actual.BinaryData, desired.BinaryData):
		return nil
	}

	changed := actual.DeepCopy() // with its resourceVersion, and with what is others'
	changed.Data, changed.BinaryData = desired.Data, desired.BinaryData
	if _, err := configMaps.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update the copy %s: %w", key, err)
	}
	return nil
}
