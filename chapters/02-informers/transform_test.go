package informers_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	informers "github.com/controllings/controllings/chapters/02-informers"
	"github.com/controllings/controllings/testbed"
)

func TestSlimFactoryDropsManagedFields(t *testing.T) {
	b := testbed.New(t)
	b.Create(newPod("web-0", "web"), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "settings",
			Labels: map[string]string{"team": "red"},
			Annotations: map[string]string{
				"example.com/note": "keep",
				"kubectl.kubernetes.io/last-applied-configuration": `{"data":{"is":"settings-1"}}`,
			},
		},
		Data:       map[string]string{"is": "settings-1"},
		BinaryData: map[string][]byte{"raw": {1, 2, 3}},
	})

	mark := b.Traffic().Mark()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	factory := informers.NewSlimFactory(b.Clientset(), b.Namespace())
	maps, pods := factory.Core().V1().ConfigMaps(), factory.Core().V1().Pods()
	settings, web := maps.Lister().ConfigMaps(b.Namespace()), pods.Lister().Pods(b.Namespace())
	factory.StartWithContext(ctx)
	synced := factory.WaitForCacheSyncWithContext(ctx)
	b.Must(synced.AsError(), "sync the factory's informers")
	for _, r := range b.Traffic().Since(mark).Requests(podReads) {
		if r.Namespace != b.Namespace() {
			b.Fail(testbed.Fail{Expected: "a factory for namespace " + b.Namespace(), Seen: r.URI(), See: transformsPart})
		}
	}

	cached := func(name string) (*corev1.ConfigMap, error) { return settings.Get(name) }
	expectSlim(b, "that was there", "ConfigMap settings", storedMap(b, "settings"), func() (runtime.Object, error) { return cached("settings") })
	expectSlim(b, "that was there", "Pod web-0", storedPod(b, "web-0"), func() (runtime.Object, error) { return web.Get("web-0") })

	changeMap(b, "settings", func(cm *corev1.ConfigMap) { cm.Data["is"] = "settings-2" })
	createMap(b, "later", "1")
	setStatus(b, "web-0", corev1.PodRunning, true)
	expectSlim(b, "that was changed", "ConfigMap settings", storedMap(b, "settings"), func() (runtime.Object, error) { return cached("settings") })
	expectSlim(b, "that was made later", "ConfigMap later", storedMap(b, "later"), func() (runtime.Object, error) { return cached("later") })
	expectSlim(b, "that was changed", "Pod web-0", storedPod(b, "web-0"), func() (runtime.Object, error) { return web.Get("web-0") })

	// Sent back as it is: nothing may be lost by that.
	before := storedMap(b, "settings")
	own, err := cached("settings")
	b.Must(err, "read from a lister")
	own = own.DeepCopy()
	metav1.SetMetaDataLabel(&own.ObjectMeta, "team", "blue")
	_, err = b.Clientset().CoreV1().ConfigMaps(b.Namespace()).Update(b.Context(), own, metav1.UpdateOptions{})
	b.NoError(err, testbed.Fail{Expected: "an update with a copy of what the lister returned", See: transformsPart})
	after := storedMap(b, "settings")
	before.Labels["team"] = "blue"
	if !equality.Semantic.DeepEqual(contents(before), contents(after)) || len(after.ManagedFields) == 0 {
		b.Fail(testbed.Fail{
			Expected: "an update with a copy of what the lister returned to lose nothing at the API server: " + contents(before),
			Seen:     fmt.Sprintf("%s, and %d managedFields", contents(after), len(after.ManagedFields)),
			See:      transformsPart,
		})
	}
}

// expectSlim waits for an object of the cache that is the API server's current one.
func expectSlim(b *testbed.Bed, which, name string, stored runtime.Object, get func() (runtime.Object, error)) {
	want, err := meta.Accessor(stored.DeepCopyObject())
	b.Must(err, "look at an object")
	var got runtime.Object
	b.Eventually(patient, testbed.Fail{
		Expected: fmt.Sprintf("%s, %s, in the cache", name, which),
		See:      transformsPart,
	}, func(context.Context) (bool, string) {
		if got, err = get(); err != nil {
			return false, err.Error()
		}
		object, err := meta.Accessor(got)
		if err != nil {
			return false, err.Error()
		}
		return object.GetResourceVersion() == want.GetResourceVersion(),
			fmt.Sprintf("resourceVersion %s, and %s at the API server", object.GetResourceVersion(), want.GetResourceVersion())
	})
	object, err := meta.Accessor(got)
	b.Must(err, "look at an object")
	if n := len(object.GetManagedFields()); n > 0 {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("no managedFields in the cache: %s, %s", name, which),
			Seen:     fmt.Sprintf("%d entries of them", n),
			See:      transformsPart,
		})
	}
	want.SetManagedFields(nil)
	if !equality.Semantic.DeepEqual(want, object) {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("%s, %s, in the cache as at the API server but for its managedFields", name, which),
			Seen:     fmt.Sprintf("labels %v, annotations %v, and a difference at least: %+v", object.GetLabels(), object.GetAnnotations(), got),
			See:      transformsPart,
		})
	}
}

func contents(cm *corev1.ConfigMap) string {
	return fmt.Sprintf("labels %v, annotations %v, data %v, binary data %v", cm.Labels, cm.Annotations, cm.Data, cm.BinaryData)
}

func storedPod(b *testbed.Bed, name string) *corev1.Pod {
	pod, err := b.Admin().CoreV1().Pods(b.Namespace()).Get(b.Context(), name, metav1.GetOptions{})
	b.Must(err, "read a Pod")
	return pod
}
