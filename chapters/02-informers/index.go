package informers

import (
	"k8s.io/client-go/tools/cache"

	"github.com/controllings/controllings/todo"
)

// IndexUsers gives the informer, which is one of Pods, an index for Users. It is
// called once, before or after the informer has started.
func IndexUsers(pods cache.SharedIndexInformer) error {
	// TODO(2.7): add an index.
	panic(todo.Step("2.7"))
}

// Users returns the names of the Pods that use a ConfigMap, sorted, each once. A Pod
// uses one of its own namespace as a volume (spec.volumes[].configMap), or as the
// environment of a container or an init container (envFrom[].configMapRef); other ways
// don't count. The answer comes from the index alone: it takes no longer because
// there are many other Pods.
func Users(pods cache.Indexer, namespace, configMap string) ([]string, error) {
	// TODO(2.7): look up by the index.
	panic(todo.Step("2.7"))
}
