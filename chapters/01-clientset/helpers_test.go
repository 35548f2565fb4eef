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

// createConfigMaps makes n ConfigMaps and returns their names.
func createConfigMaps(b *testbed.Bed, n int) map[string]bool {
	names := make(map[string]bool, n)
	var all []testbed.Object
	for i := range n {
		name := fmt.Sprintf("settings-%04d", i)
		names[name] = true
		all = append(all, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	b.Create(all...)
	return names
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
