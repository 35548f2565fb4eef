package testbed

import (
	"context"
	"sync"
)

// moreNamespaces are those of a bed beside its own.
type moreNamespaces struct {
	mu    sync.Mutex
	names []string
}

// NewNamespace makes one more namespace for this check and returns its name. The
// learner's code has the same rights in it as in the bed's own: those of the Roles
// of the chapter's config/rbac.yaml. It goes when the bed goes.
//
// It is for code that works on several namespaces and is told which. Objects are
// laid out in it with CreateIn.
func (b *Bed) NewNamespace() string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), Scale(setupTimeout))
	defer cancel()
	name, err := b.newNamespace(ctx)
	b.Must(err, "make one more namespace")
	return name
}

func (b *Bed) newNamespace(ctx context.Context) (string, error) {
	roles, _, err := readRBAC() // ClusterRoles hold here as well
	if err != nil {
		return "", err
	}
	namespace, err := b.createNamespace(ctx)
	if err != nil {
		return "", err
	}
	b.more.mu.Lock()
	b.more.names = append(b.more.names, namespace.Name)
	b.more.mu.Unlock()

	var jobs []func() error
	for _, role := range roles {
		jobs = append(jobs, func() error { return b.bind(ctx, namespace.Name, role) })
	}
	return namespace.Name, together(jobs...)
}

// CreateIn is Create, in a namespace that NewNamespace has made.
func (b *Bed) CreateIn(namespace string, objects ...Object) {
	b.t.Helper()
	b.Must(b.createAll(b.Context(), namespace, objects, nil), "lay out the check's objects")
}

// allNamespaces are the bed's own and those that NewNamespace has made.
func (b *Bed) allNamespaces() []string {
	b.more.mu.Lock()
	defer b.more.mu.Unlock()
	return append([]string{b.namespace}, b.more.names...)
}

// removeNamespaces deletes them all without waiting for them to be gone.
func (b *Bed) removeNamespaces(ctx context.Context, written []resource) error {
	var jobs []func() error
	for _, namespace := range b.allNamespaces() {
		jobs = append(jobs, func() error { return b.removeNamespace(ctx, namespace, written) })
	}
	return together(jobs...)
}
