package informers

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
)

// NewSlimFactory returns a factory for one namespace whose informers, of whatever
// type, keep objects without their managedFields, which are often a large part of
// them, and which no controller reads. All else is there: an object from a lister can
// be copied, changed and sent back by an update, and the API server loses nothing.
func NewSlimFactory(client kubernetes.Interface, namespace string) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithNamespace(namespace),
		informers.WithTransform(withoutManagedFields))
}

// withoutManagedFields changes the object itself: nobody else has it yet. It may come
// a second time.
func withoutManagedFields(obj any) (any, error) {
	if object, err := meta.Accessor(obj); err == nil {
		object.SetManagedFields(nil)
	}
	return obj, nil
}
