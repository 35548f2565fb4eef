package clientset_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

const (
	pagesPart = "README.md#pages"
	total     = 1200
	pageSize  = 500
)

var configMapLists = proxy.Match{Verb: "list", Resource: "configmaps"}

func TestEachConfigMapGoesPageByPage(t *testing.T) {
	b := testbed.New(t)
	namespace, names := manyConfigMaps(b, total)

	// A walk that nothing disturbs.
	before := b.Traffic().Mark()
	walk := newVisits()
	err := clientset.EachConfigMap(b.Context(), b.Clientset(), namespace, pageSize, func(cm *corev1.ConfigMap) error {
		visited := walk.add(cm)
		if pages := b.Traffic().Since(before).Count(configMapLists); pages*pageSize-visited >= pageSize {
			return fmt.Errorf("%d requests were sent when object %d was visited", pages, visited)
		}
		return nil
	})
	walk.expectOneAtATime(b)
	b.NoError(err, testbed.Fail{
		Expected: fmt.Sprintf("a page of at most %d objects to be visited before the next is asked for", pageSize),
		See:      pagesPart,
	})
	expectLimit(b, before, pageSize)
	expectEachOnce(b, "in a walk that nothing disturbs", names, walk)

	expectContext(b, "EachConfigMap", func(ctx context.Context) error {
		return clientset.EachConfigMap(ctx, b.Clientset(), namespace, pageSize, func(*corev1.ConfigMap) error { return nil })
	})
	expectShortPages(b, namespace, names)
	expectEnd(b, namespace)

	expectNewBeginning(b, namespace, names)
	expectFreshList(b)
	expectFirstError(b, namespace)
}

// expectShortPages walks where the API server sends less than it was asked for.
func expectShortPages(b *testbed.Bed, namespace string, names map[string]bool) {
	const short = pageSize - 100
	walk := newVisits()
	err := clientset.EachConfigMap(b.Context(), shortPages(b, short), namespace, pageSize, walk.visit)
	when := fmt.Sprintf("where the API server sends pages of %d for a limit of %d", short, pageSize)
	b.NoError(err, testbed.Fail{Expected: "a walk without an error " + when, See: pagesPart})
	expectEachOnce(b, when, names, walk)
}

// expectEnd walks in pages of which the last is a full one: that nothing remains
// is told by the answer, not by its length.
func expectEnd(b *testbed.Bed, namespace string) {
	// The namespace holds more than our own: what the cluster puts into each.
	first, err := b.Admin().CoreV1().ConfigMaps(namespace).List(b.Context(), metav1.ListOptions{Limit: 1})
	b.Must(err, "count the ConfigMaps")
	size := 1 + *first.RemainingItemCount
	ctx, giveUp := context.WithCancel(b.Context())
	defer giveUp()
	var lists atomic.Int64
	counting := b.Faults().Add(proxy.Rule{Match: configMapLists, Before: func() {
		if lists.Add(1) > 5 {
			giveUp()
		}
	}})
	defer counting.Remove()
	err = clientset.EachConfigMap(ctx, b.Clientset(), namespace, size, func(*corev1.ConfigMap) error { return nil })
	b.NoError(err, testbed.Fail{
		Expected: fmt.Sprintf("a walk to end where nothing remains, although its page of %d is a full one", size),
		Seen:     fmt.Sprintf("%d lists, and no end", lists.Load()),
		See:      pagesPart,
	})
}

// expectLimit looks at the lists since mark: each has to ask for a page.
func expectLimit(b *testbed.Bed, mark proxy.Mark, size int64) {
	b.NoRequestsSince(mark, testbed.Absence{
		Match: configMapLists,
		Where: func(r proxy.Request) bool { return r.Query.Get("limit") != fmt.Sprint(size) },
		Presence: testbed.Presence{Match: configMapLists, Otherwise: testbed.Fail{
			Expected: "the ConfigMaps to be listed",
			Seen:     "no list of ConfigMaps reached the API server",
			See:      pagesPart,
		}},
	}, testbed.Fail{
		Expected: fmt.Sprintf("limit=%d in every list request, so that no answer is larger than a page", size),
		Seen:     "a list request without it",
		See:      pagesPart,
	})
}

// expectEachOnce judges which objects a walk visited, and how often.
func expectEachOnce(b *testbed.Bed, when string, names map[string]bool, walk *visits) {
	var missed, twice []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch n := walk.of(name); {
		case n == 0:
			missed = append(missed, name)
		case n > 1:
			twice = append(twice, name)
		}
	}
	if len(missed) > 0 {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("all %d ConfigMaps visited %s", len(names), when),
			Seen:     fmt.Sprintf("%d missed, %s among them", len(missed), missed[0]),
			See:      pagesPart,
		})
	}
	if len(twice) > 0 {
		b.Fail(testbed.Fail{
			Expected: "no ConfigMap visited twice " + when,
			Seen:     fmt.Sprintf("%d visited more than once, %s among them", len(twice), twice[0]),
			See:      pagesPart,
		})
	}
}
