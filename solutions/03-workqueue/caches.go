package sharing

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Caches hold the ConfigMaps of some namespaces, those and no others: an informer
// for each of them needs no rights beyond them.
type Caches struct {
	byNamespace map[string]namespaceCache
	handlers    []cache.DoneChecker
}

type namespaceCache struct {
	factory  informers.SharedInformerFactory
	informer coreinformers.ConfigMapIndexInformer
	lister   corelisters.ConfigMapNamespaceLister
}

// NewCaches makes the caches of these namespaces. They stay empty until Start.
func NewCaches(client kubernetes.Interface, namespaces ...string) *Caches {
	c := &Caches{byNamespace: map[string]namespaceCache{}}
	for _, namespace := range namespaces {
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
		configMaps := factory.Core().V1().ConfigMaps()
		c.byNamespace[namespace] = namespaceCache{
			factory:  factory,
			informer: configMaps.TypedInformer(), // asked for before Start, or it wouldn't start
			lister:   configMaps.Lister().ConfigMaps(namespace),
		}
	}
	return c
}

// Handle has h called for each event of each namespace. Call it before Start.
func (c *Caches) Handle(h cache.TypedResourceEventHandler[*corev1.ConfigMap]) error {
	for namespace, n := range c.byNamespace {
		registration, err := n.informer.AddTypedEventHandler(h)
		if err != nil {
			return fmt.Errorf("handle the events of namespace %q: %w", namespace, err)
		}
		c.handlers = append(c.handlers, registration.HasSyncedChecker())
	}
	return nil
}

// Start begins to fill the caches and to follow what changes, until ctx ends. It
// doesn't wait for anything.
func (c *Caches) Start(ctx context.Context) {
	for _, n := range c.byNamespace {
		n.factory.StartWithContext(ctx)
	}
}

// WaitForSync waits until all caches are full, and the handlers have been told of
// what is in them. It returns an error if ctx ends before.
func (c *Caches) WaitForSync(ctx context.Context) error {
	full := slices.Clone(c.handlers)
	for _, n := range c.byNamespace {
		full = append(full, n.informer.HasSyncedChecker())
	}
	if !cache.WaitFor(ctx, "", full...) {
		return fmt.Errorf("fill the caches: %w", context.Cause(ctx))
	}
	return nil
}

// Shutdown waits until nothing of the caches runs any more. End the context that
// they were started with first.
func (c *Caches) Shutdown() {
	for _, n := range c.byNamespace {
		n.factory.Shutdown()
	}
}

// Get returns a ConfigMap from the cache of its namespace, or nil. It belongs to
// the cache: copy it (DeepCopy) before you change anything in it.
func (c *Caches) Get(namespace, name string) *corev1.ConfigMap {
	n, ok := c.byNamespace[namespace]
	if !ok {
		return nil
	}
	cm, err := n.lister.Get(name)
	if err != nil {
		return nil // a lister knows no other error than NotFound
	}
	return cm
}

// List returns the ConfigMaps of a namespace from its cache. They belong to the
// cache, too.
func (c *Caches) List(namespace string) []*corev1.ConfigMap {
	n, ok := c.byNamespace[namespace]
	if !ok {
		return nil
	}
	all, err := n.lister.List(labels.Everything())
	if err != nil {
		return nil // nor does this one
	}
	return all
}
