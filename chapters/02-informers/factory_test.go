package informers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"

	informers "github.com/controllings/controllings/chapters/02-informers"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

func TestSyncedPodsIsWholeFirst(t *testing.T) {
	b := testbed.New(t)
	var want []string
	var all []testbed.Object
	for i := range 20 {
		name := fmt.Sprintf("web-%02d", i)
		want = append(want, name)
		all = append(all, newPod(name, "web"))
	}
	b.Create(all...)

	expectSync(b, "SyncedPods", syncedPart, podReads, func(ctx context.Context) error {
		pods, err := informers.SyncedPods(ctx, b.Clientset(), b.Namespace())
		if err != nil && pods != nil {
			return fmt.Errorf("%w, and a lister beside it", err)
		}
		return err
	})

	held := b.Faults().Add(proxy.Rule{Match: podReads, Hold: true})
	var pods corelisters.PodNamespaceLister
	c := begin(b, "SyncedPods", syncedPart, func(ctx context.Context) (err error) {
		pods, err = informers.SyncedPods(ctx, b.Clientset(), b.Namespace())
		return err
	})
	c.expectWaiting(b, "SyncedPods to wait for its copy of the Pods: no event of them has arrived")
	held.Remove()
	c.expectReturn(b, "when its copy is whole")
	if got := podNames(b, pods); !slices.Equal(got, want) {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("all %d Pods in the copy when SyncedPods returns: %s", len(want), orNothing(want)),
			Seen:     orNothing(got),
			See:      syncedPart,
		})
	}

	// Then it follows.
	b.Create(newPod("later", "web"))
	setStatus(b, "web-01", corev1.PodFailed, false)
	deletePod(b, "web-00")
	b.Eventually(patient, testbed.Fail{
		Expected: "the copy to follow when SyncedPods has returned: web-00 deleted, web-01 Failed, later made",
		See:      "README.md#a-copy-that-follows",
	}, func(context.Context) (bool, string) {
		_, gone := pods.Get("web-00")
		failed, _ := pods.Get("web-01")
		_, made := pods.Get("later")
		ok := apierrors.IsNotFound(gone) && failed != nil && failed.Status.Phase == corev1.PodFailed && made == nil
		return ok, "a lister of " + orNothing(podNames(b, pods))
	})
	c.expectOneWatch(b, podReads)
	c.expectEnd(b)
}

func podNames(b *testbed.Bed, pods corelisters.PodNamespaceLister) []string {
	if pods == nil {
		b.Fail(testbed.Fail{Expected: "a lister, when there is no error", Seen: "nil", See: syncedPart})
	}
	list, err := pods.List(labels.Everything())
	b.NoError(err, testbed.Fail{Expected: "the Pods of the copy", See: syncedPart})
	var names []string
	for _, pod := range list {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return names
}
