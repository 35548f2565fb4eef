package informers_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	clientinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	informers "github.com/controllings/controllings/chapters/02-informers"
	"github.com/controllings/controllings/testbed"
)

func TestUsersLooksThemUp(t *testing.T) {
	b := testbed.New(t)

	// Pods of two namespaces, put into the store of an informer that doesn't run.
	pods := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, cache.Indexers{})
	b.NoError(informers.IndexUsers(pods), testbed.Fail{Expected: "an index for Users", See: indexesPart})
	counting := &scans{Indexer: pods.GetIndexer()}
	for _, pod := range []*corev1.Pod{
		user("shop", "by-volume", volume("settings")),
		user("shop", "by-env", env("settings")),
		user("shop", "by-init", initEnv("settings")),
		user("shop", "twice", volume("settings"), env("settings"), env("other")),
		user("shop", "of-others", volume("other"), env("another")),
		user("shop", "of-a-secret", secret("settings")),
		user("shop", "of-none"),
		user("bank", "elsewhere", volume("settings")),
	} {
		b.Must(counting.Add(pod), "put a Pod into a store")
	}
	expectUsers(b, counting, "shop", "settings", "by-env", "by-init", "by-volume", "twice")
	expectUsers(b, counting, "shop", "other", "of-others", "twice")
	expectUsers(b, counting, "shop", "another", "of-others")
	expectUsers(b, counting, "bank", "settings", "elsewhere")
	expectUsers(b, counting, "bank", "other")
	expectUsers(b, counting, "shop", "nosuch")
	if n := counting.n.Load(); n > 0 {
		b.Fail(testbed.Fail{
			Expected: "lookups by the index alone, of six ConfigMaps",
			Seen:     fmt.Sprintf("%d times all Pods of the cache gone through", n),
			See:      indexesPart,
		})
	}

	// An informer that runs: what is there, what comes and what goes.
	b.Create(user("", "early", volume("settings")))
	factory := clientinformers.NewSharedInformerFactoryWithOptions(b.Clientset(), 0, clientinformers.WithNamespace(b.Namespace()))
	informer := factory.Core().V1().Pods().Informer()
	factory.StartWithContext(b.Context())
	b.Must(factory.WaitForCacheSyncWithContext(b.Context()).AsError(), "sync the check's own informer")
	b.NoError(informers.IndexUsers(informer), testbed.Fail{Expected: "an index for Users of an informer that runs", See: indexesPart})
	expectUsers(b, informer.GetIndexer(), b.Namespace(), "settings", "early")
	b.Create(user("", "later", env("settings")))
	deletePod(b, "early")
	b.Eventually(patient, testbed.Fail{
		Expected: "the index to follow the cache: early is gone, later was made",
		See:      indexesPart,
	}, func(context.Context) (bool, string) {
		got, err := informers.Users(informer.GetIndexer(), b.Namespace(), "settings")
		return slices.Equal(got, []string{"later"}), fmt.Sprintf("%s, and the error %v", orNothing(got), err)
	})
}

func expectUsers(b *testbed.Bed, pods cache.Indexer, namespace, configMap string, want ...string) {
	got, err := informers.Users(pods, namespace, configMap)
	if err != nil || !slices.Equal(got, want) {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("the users of ConfigMap %s in namespace %s, sorted, each once: %s", configMap, namespace, orNothing(want)),
			Seen:     fmt.Sprintf("%s, and the error %v", orNothing(got), err),
			See:      indexesPart,
		})
	}
}

// scans counts how often somebody goes through all that is in a store.
type scans struct {
	cache.Indexer
	n atomic.Int64
}

func (s *scans) List() []any {
	s.n.Add(1)
	return s.Indexer.List()
}

func (s *scans) ListKeys() []string {
	s.n.Add(1)
	return s.Indexer.ListKeys()
}

// user is a Pod that uses what the options say.
func user(namespace, name string, uses ...func(*corev1.PodSpec)) *corev1.Pod {
	pod := newPod(name, "")
	pod.Namespace = namespace
	pod.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "registry.example/init:1"}}
	for _, use := range uses {
		use(&pod.Spec)
	}
	return pod
}

func volume(configMap string) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "v-" + configMap, VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}},
		}})
	}
}

func secret(name string) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "s-" + name, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: name},
		}})
		spec.Containers[0].EnvFrom = append(spec.Containers[0].EnvFrom, corev1.EnvFromSource{
			SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		})
	}
}

func env(configMap string) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		spec.Containers[0].EnvFrom = append(spec.Containers[0].EnvFrom, envFrom(configMap))
	}
}

func initEnv(configMap string) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		spec.InitContainers[0].EnvFrom = append(spec.InitContainers[0].EnvFrom, envFrom(configMap))
	}
}

func envFrom(configMap string) corev1.EnvFromSource {
	return corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}}
}
