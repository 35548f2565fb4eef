package informers

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// usedConfigMaps is the name of the index.
const usedConfigMaps = "usedConfigMaps"

// IndexUsers gives the informer, which is one of Pods, an index for Users. It is
// called once, before or after the informer has started.
func IndexUsers(pods cache.SharedIndexInformer) error {
	err := pods.AddIndexers(cache.Indexers{usedConfigMaps: func(obj any) ([]string, error) {
		pod, ok := obj.(*corev1.Pod)
		if !ok {
			return nil, fmt.Errorf("index the users of ConfigMaps: a %T is no Pod", obj)
		}
		return configMapsOf(pod), nil
	}})
	if err != nil {
		return fmt.Errorf("index the users of ConfigMaps: %w", err)
	}
	return nil
}

// Users returns the names of the Pods that use a ConfigMap, sorted, each once. A Pod
// uses one of its own namespace as a volume (spec.volumes[].configMap), or as the
// environment of a container or an init container (envFrom[].configMapRef); other ways
// don't count. The answer comes from the index alone: it takes no longer because
// there are many other Pods.
func Users(pods cache.Indexer, namespace, configMap string) ([]string, error) {
	found, err := pods.ByIndex(usedConfigMaps, cache.NewObjectName(namespace, configMap).String())
	if err != nil {
		return nil, fmt.Errorf("look up the users of ConfigMap %q: %w", configMap, err)
	}
	names := make([]string, 0, len(found))
	for _, obj := range found {
		names = append(names, obj.(*corev1.Pod).Name)
	}
	slices.Sort(names)
	return names, nil
}

// configMapsOf returns the keys of the ConfigMaps that a Pod uses. An index takes a
// value that comes twice for one.
func configMapsOf(pod *corev1.Pod) []string {
	var keys []string
	add := func(name string) { keys = append(keys, cache.NewObjectName(pod.Namespace, name).String()) }
	for _, volume := range pod.Spec.Volumes {
		if volume.ConfigMap != nil {
			add(volume.ConfigMap.Name)
		}
	}
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, from := range container.EnvFrom {
			if from.ConfigMapRef != nil {
				add(from.ConfigMapRef.Name)
			}
		}
	}
	return keys
}
