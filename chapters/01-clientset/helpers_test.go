package clientset_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/controllings/controllings/testbed"
)

// createPod makes a Pod that is in the given phase and stays there: a
// scheduling gate keeps it off every node, so nothing but this check gives it
// a status.
func createPod(b *testbed.Bed, name, app string, phase corev1.PodPhase) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/stays-unscheduled"}},
			Containers:      []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
		},
	}
	createInPhase(b, pod, phase)
}

// createLeavingPod makes a Pod that is Running and being deleted: its node has half
// a minute to stop it, and is none that would. Call the result to be rid of it.
func createLeavingPod(b *testbed.Bed, name, app string) (remove func()) {
	createInPhase(b, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			// A node that is missing, for this check alone: what others bind to one of
			// that name is collected with it.
			NodeName:   "node-of-" + b.Namespace(),
			Containers: []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
		},
	}, corev1.PodRunning)
	pods := b.Admin().CoreV1().Pods(b.Namespace())
	b.Must(pods.Delete(b.Context(), name, metav1.DeleteOptions{}), "begin to delete a Pod")
	return func() {
		_ = pods.Delete(b.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	}
}

func createInPhase(b *testbed.Bed, pod *corev1.Pod, phase corev1.PodPhase) {
	b.Create(pod)
	pod.Status.Phase = phase
	_, err := b.Admin().CoreV1().Pods(b.Namespace()).UpdateStatus(b.Context(), pod, metav1.UpdateOptions{})
	b.Must(err, "give a Pod its phase")
}

// manyConfigMaps returns a namespace with n ConfigMaps in it, and their names.
// They are for all runs on a cluster, since it takes seconds to make them.
func manyConfigMaps(b *testbed.Bed, n int) (namespace string, names map[string]bool) {
	names = make(map[string]bool, n)
	all := make([]testbed.Object, n)
	for i := range all {
		name := fmt.Sprintf("settings-%04d", i)
		names[name] = true
		all[i] = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	return b.Shared("settings", all...), names
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// expectContext calls a function with a context that has ended: nothing that it
// sends can be answered any more, and its caller has to hear of that.
func expectContext(b *testbed.Bed, function string, call func(context.Context) error) {
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	err := call(ctx)
	if err != nil && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
		return
	}
	seen := "no error"
	if err != nil {
		seen = fmt.Sprintf("the API server's answer: %v", err)
	}
	b.Fail(testbed.Fail{
		Expected: function + " to send its requests with the caller's context, which has ended here: an error, and no answer of the API server's",
		Seen:     seen,
		See:      "README.md#time-limits",
	})
}

// shortPages is a client to which the API server sends at most n objects where a
// list has a larger limit. It may always send fewer than it was asked for.
func shortPages(b *testbed.Bed, n int) kubernetes.Interface {
	config := b.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			query := r.URL.Query()
			if limit, err := strconv.Atoi(query.Get("limit")); err == nil && limit > n {
				query.Set("limit", strconv.Itoa(n))
				r = r.Clone(r.Context()) // a RoundTripper must leave its request alone
				r.URL.RawQuery = query.Encode()
			}
			return next.RoundTrip(r)
		})
	})
	client, err := kubernetes.NewForConfig(config)
	b.Must(err, "make a client")
	return client
}
