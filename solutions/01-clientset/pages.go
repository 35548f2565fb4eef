package clientset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// EachConfigMap calls visit for every ConfigMap of the namespace, once for each and
// for one at a time. It asks for at most limit objects at a time and holds no more
// than one page of them. A page may be shorter than limit without being the last.
//
// The API server keeps the view that a continue token belongs to for some
// minutes only. Whenever it answers 410 (reason Expired), EachConfigMap begins
// again with a fresh list and passes over what visit has seen, and over nothing
// else. The first error of visit, or of a request that failed for another reason,
// ends the walk and is returned.
func EachConfigMap(ctx context.Context, client kubernetes.Interface, namespace string, limit int64, visit func(*corev1.ConfigMap) error) error {
	seen := map[types.UID]bool{}
	opts := metav1.ListOptions{Limit: limit}
	for {
		page, err := client.CoreV1().ConfigMaps(namespace).List(ctx, opts)
		if opts.Continue != "" && apierrors.IsResourceExpired(err) {
			opts.Continue = ""
			continue
		}
		if err != nil {
			return fmt.Errorf("list a page of ConfigMaps in namespace %q: %w", namespace, err)
		}
		for i := range page.Items {
			item := &page.Items[i]
			if seen[item.UID] {
				continue
			}
			seen[item.UID] = true
			if err := visit(item); err != nil {
				return err
			}
		}
		if page.Continue == "" {
			return nil
		}
		opts.Continue = page.Continue
	}
}
