package clientset

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// The reasons for which the API server turns a request of this file down.
// Each calls for something else from the caller, which is why they must not
// be mixed up.
var (
	// ErrNotFound: there is no such object (or no such namespace).
	ErrNotFound = errors.New("not found")
	// ErrAlreadyExists: an object of that name is there already.
	ErrAlreadyExists = errors.New("already exists")
	// ErrConflict: somebody changed the object since it was read. Read it
	// again and decide again.
	ErrConflict = errors.New("changed since it was read")
	// ErrInvalid: the object breaks a rule of its type. Trying again can't help.
	ErrInvalid = errors.New("invalid")
	// ErrForbidden: this identity may not do that. Trying again can't help.
	ErrForbidden = errors.New("forbidden")
)

// Explain adds the reason to an error of the API server: the result wraps both
// err and one of the five errors above, so that errors.Is finds the reason and
// nothing of the server's answer is lost. nil stays nil, and an error of
// another kind comes back as it is.
func Explain(err error) error {
	var reason error
	switch {
	case apierrors.IsNotFound(err):
		reason = ErrNotFound
	case apierrors.IsAlreadyExists(err):
		reason = ErrAlreadyExists
	case apierrors.IsConflict(err):
		reason = ErrConflict
	case apierrors.IsInvalid(err):
		reason = ErrInvalid
	case apierrors.IsForbidden(err):
		reason = ErrForbidden
	default:
		return err
	}
	return fmt.Errorf("%w: %w", reason, err)
}

// CreateSettings makes a ConfigMap with the given data and returns it as the
// API server stored it. It sends one request, as do the three below: what a look
// beforehand finds may have changed by then. Its errors went through Explain.
func CreateSettings(ctx context.Context, client kubernetes.Interface, namespace, name string, data map[string]string) (*corev1.ConfigMap, error) {
	settings := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       data,
	}
	created, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, settings, metav1.CreateOptions{})
	return created, Explain(err)
}

// GetSettings reads a ConfigMap. Its errors went through Explain.
func GetSettings(ctx context.Context, client kubernetes.Interface, namespace, name string) (*corev1.ConfigMap, error) {
	settings, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	return settings, Explain(err)
}

// UpdateSettings writes settings back, all of it, as it was read and then changed
// by the caller, and returns what the API server stored; settings itself stays as
// it is. When somebody else wrote in between, even the very same, nothing is
// written and the error is ErrConflict: their change is not the caller's to lose.
// Its errors went through Explain.
func UpdateSettings(ctx context.Context, client kubernetes.Interface, settings *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	updated, err := client.CoreV1().ConfigMaps(settings.Namespace).Update(ctx, settings, metav1.UpdateOptions{})
	return updated, Explain(err)
}

// DeleteSettings removes a ConfigMap. Its errors went through Explain.
func DeleteSettings(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	return Explain(client.CoreV1().ConfigMaps(namespace).Delete(ctx, name, metav1.DeleteOptions{}))
}
