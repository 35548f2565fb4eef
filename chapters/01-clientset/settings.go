package clientset

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/controllings/controllings/todo"
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
	// TODO(1.3): find out which of the five reasons the error has.
	panic(todo.Step("1.3"))
}

// CreateSettings makes a ConfigMap with the given data and returns it as the
// API server stored it. It sends one request, as do the three below: what a look
// beforehand finds may have changed by then. Its errors went through Explain.
func CreateSettings(ctx context.Context, client kubernetes.Interface, namespace, name string, data map[string]string) (*corev1.ConfigMap, error) {
	// TODO(1.3): send a ConfigMap to be created, and explain what went wrong.
	panic(todo.Step("1.3"))
}

// GetSettings reads a ConfigMap. Its errors went through Explain.
func GetSettings(ctx context.Context, client kubernetes.Interface, namespace, name string) (*corev1.ConfigMap, error) {
	// TODO(1.3): read the ConfigMap, and explain what went wrong.
	panic(todo.Step("1.3"))
}

// UpdateSettings writes settings back, all of it, as it was read and then changed
// by the caller, and returns what the API server stored; settings itself stays as
// it is. When somebody else wrote in between, even the very same, nothing is
// written and the error is ErrConflict: their change is not the caller's to lose.
// Its errors went through Explain.
func UpdateSettings(ctx context.Context, client kubernetes.Interface, settings *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	// TODO(1.3): write the ConfigMap back, and explain what went wrong.
	panic(todo.Step("1.3"))
}

// DeleteSettings removes a ConfigMap. Its errors went through Explain.
func DeleteSettings(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	// TODO(1.3): remove the ConfigMap, and explain what went wrong.
	panic(todo.Step("1.3"))
}
