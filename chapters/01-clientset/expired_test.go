package clientset_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

// laterPages are the lists that bear a continue token.
var laterPages = proxy.Match{Verb: "list", Resource: "configmaps", Query: map[string]string{"continue": ""}}

// expectNewBeginning walks where the token expires after the first page.
func expectNewBeginning(b *testbed.Bed, namespace string, names map[string]bool) {
	expired := b.Faults().Add(expire(laterPages))
	defer expired.Remove()
	walk := newVisits()
	before := b.Traffic().Mark()
	err := clientset.EachConfigMap(b.Context(), b.Clientset(), namespace, pageSize, walk.visit)
	b.NoError(err, testbed.Fail{
		Expected: "the walk to begin again when its continue token has expired (410, reason Expired, on the second page)",
		See:      pagesPart,
	})
	expectLimit(b, before, pageSize)
	expectEachOnce(b, "in a walk whose continue token expired after the first page", names, walk)
}

// expectFreshList walks where the token expires on the third page, and then on the
// second page of each new beginning, many times. Meanwhile two of the ConfigMaps that
// were visited are deleted, and one is made whose name comes before the others.
func expectFreshList(b *testbed.Bed) {
	const size, expirations = 2, 12
	names := map[string]bool{"made-meanwhile": true}
	for _, name := range []string{"n-1", "n-2", "n-3", "n-4", "n-5", "n-6"} {
		names[name] = true
		b.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	all := b.Admin().CoreV1().ConfigMaps(b.Namespace())
	changed := make(chan error, 1)
	rule := expire(laterPages)
	rule.After, rule.Times = 1, expirations
	var once sync.Once
	rule.Before = func() {
		once.Do(func() {
			made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made-meanwhile"}}
			_, err := all.Create(b.Context(), made, metav1.CreateOptions{})
			changed <- errors.Join(err,
				all.Delete(b.Context(), "n-1", metav1.DeleteOptions{}),
				all.Delete(b.Context(), "n-2", metav1.DeleteOptions{}))
		})
	}
	expired := b.Faults().Add(rule)
	defer expired.Remove()

	walk := newVisits()
	before := b.Traffic().Mark()
	err := clientset.EachConfigMap(b.Context(), b.Clientset(), b.Namespace(), size, walk.visit)
	if expired.Hits() > 0 {
		b.Must(<-changed, "change what is walked through")
	}
	b.NoError(err, testbed.Fail{
		Expected: fmt.Sprintf("the walk to begin again each time that a continue token has expired (410, %d times here)", expirations),
		See:      pagesPart,
	})
	expectLimit(b, before, size)
	expectEachOnce(b, "where two were deleted, and made-meanwhile was made, before the walk began again", names, walk)
}

// expectFirstError walks where a request fails and where visit does. A visitor
// whose own list elsewhere has expired says nothing of this walk's token.
func expectFirstError(b *testbed.Bed, namespace string) {
	failing := b.Faults().Add(proxy.Rule{Match: laterPages, Status: http.StatusInternalServerError, Times: 1})
	before := b.Traffic().Mark()
	err := clientset.EachConfigMap(b.Context(), b.Clientset(), namespace, pageSize, func(*corev1.ConfigMap) error { return nil })
	failing.Remove()
	if lists := b.Traffic().Since(before).Count(configMapLists); err == nil || lists != 2 {
		b.Fail(testbed.Fail{
			Expected: "a request that fails with a 500 on the second page to end the walk, and its error to be returned",
			Seen:     fmt.Sprintf("the error %v after %d lists", err, lists),
			See:      pagesPart,
		})
	}

	for _, enough := range []error{errors.New("enough"), apierrors.NewResourceExpired("another list's token")} {
		walk := newVisits()
		before := b.Traffic().Mark()
		err := clientset.EachConfigMap(b.Context(), b.Clientset(), namespace, pageSize, func(cm *corev1.ConfigMap) error {
			walk.add(cm)
			return enough
		})
		lists := b.Traffic().Since(before).Count(configMapLists)
		if visited := walk.all(); !errors.Is(err, enough) || visited != 1 || lists != 1 {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("the first error of visit (%v) to end the walk and to be returned", enough),
				Seen:     fmt.Sprintf("error %v after %d visits and %d requests", err, visited, lists),
				See:      pagesPart,
			})
		}
	}
}

// expire answers one of the requests as the API server does to a token that is too
// old.
func expire(which proxy.Match) proxy.Rule {
	return proxy.Rule{
		Match:   which,
		Status:  http.StatusGone,
		Reason:  metav1.StatusReasonExpired,
		Message: "The provided continue parameter is too old to display a consistent list result.",
		Times:   1,
	}
}
