package clientset_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
