package informers_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	informers "github.com/controllings/controllings/chapters/02-informers"
	"github.com/controllings/controllings/testbed"
)

const waits = "example.com/waits"

func TestWatchGoneMissesNoDeletion(t *testing.T) {
	b := testbed.New(t)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		createMap(b, name, "1")
	}
	guarded := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "guarded", Finalizers: []string{waits}}, Data: map[string]string{"is": "guarded-1"}}
	b.Create(guarded)
	defer changeMap(b, "guarded", func(cm *corev1.ConfigMap) { cm.Finalizers = nil }) // or the namespace would never go

	expectSync(b, "WatchGone", deletionsPart, mapReads, func(ctx context.Context) error {
		return informers.WatchGone(ctx, b.Clientset(), b.Namespace(), func(*corev1.ConfigMap) {})
	})

	var calls told
	c := begin(b, "WatchGone", deletionsPart, func(ctx context.Context) error {
		return informers.WatchGone(ctx, b.Clientset(), b.Namespace(), func(cm *corev1.ConfigMap) {
			calls.add(describeMap(cm))
		})
	})
	c.expectReturn(b, "when it knows the ConfigMaps that are there")

	for _, step := range []struct {
		when string
		act  func()
		want []string
	}{
		{"gone when a was changed, and then deleted", func() {
			changeMap(b, "a", func(cm *corev1.ConfigMap) { cm.Data["is"] = "a-2" })
			deleteMap(b, "a")
		}, []string{"a with the data a-2"}},
		{"gone, and not guarded, which is being deleted and still there, since it waits for a finalizer", func() {
			deleteMap(b, "guarded")
			deleteMap(b, "b")
		}, []string{"b with the data b-1"}},
		{"gone when its finalizer has been removed", func() {
			changeMap(b, "guarded", func(cm *corev1.ConfigMap) { cm.Finalizers = nil })
		}, []string{"guarded with the data guarded-1"}},
		{"gone when c was deleted and made again under its name, which the watch has told of", func() {
			deleteMap(b, "c")
			createMap(b, "c", "2")
		}, []string{"c with the data c-1"}},
		{"gone when d was deleted and no event told of it: the watch broke off, and a new list shows what is there", func() {
			unseen(b, mapWatches, 2, func() {
				changeMap(b, "e", func(cm *corev1.ConfigMap) { cm.Data["is"] = "e-2" })
				deleteMap(b, "d")
			})
		}, []string{"d with the data d-1"}},
		{"gone when f was deleted and made again while the watch was broken off: another UID, another ConfigMap", func() {
			unseen(b, mapWatches, 2, func() {
				deleteMap(b, "f")
				createMap(b, "f", "2")
			})
		}, []string{"f with the data f-1"}},
		{"gone when both the new ones were deleted", func() {
			deleteMap(b, "c")
			deleteMap(b, "f")
		}, []string{"c with the data c-2", "f with the data f-2"}},
	} {
		step.act()
		calls.expect(b, step.when, deletionsPart, step.want...)
	}
	calls.expect(b, "more than that", deletionsPart)
	c.expectOnlyReads(b, mapReads)
	c.expectEnd(b)
}

func describeMap(cm *corev1.ConfigMap) string {
	if cm == nil {
		return "nil"
	}
	return fmt.Sprintf("%s with the data %s", cm.Name, cm.Data["is"])
}

// createMap makes a ConfigMap whose data say which of several with that name it is.
func createMap(b *testbed.Bed, name, which string) {
	b.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"is": name + "-" + which}})
}

// changeMap changes a ConfigMap as somebody else, if it is there.
func changeMap(b *testbed.Bed, name string, change func(*corev1.ConfigMap)) {
	maps := b.Foreign().CoreV1().ConfigMaps(b.Namespace())
	cm, err := maps.Get(b.Context(), name, metav1.GetOptions{})
	if err != nil {
		return // gone, or the check is over
	}
	change(cm)
	_, err = maps.Update(b.Context(), cm, metav1.UpdateOptions{})
	b.Must(err, "change a ConfigMap")
}

func deleteMap(b *testbed.Bed, name string) {
	err := b.Foreign().CoreV1().ConfigMaps(b.Namespace()).Delete(b.Context(), name, metav1.DeleteOptions{})
	b.Must(err, "delete a ConfigMap")
}
