package clientset_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/controllings/controllings/testbed"
)

// createPod makes a Pod that is in the given phase and stays there: a
// scheduling gate keeps it off every node, so nothing but this test gives it
// a status.
func createPod(t *testing.T, b *testbed.Bed, name, app string, phase corev1.PodPhase) {
	pods := b.Admin().CoreV1().Pods(b.Namespace())
	pod, err := pods.Create(b.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/stays-unscheduled"}},
			Containers:      []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	pod.Status.Phase = phase
	_, err = pods.UpdateStatus(b.Context(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// createConfigMaps makes n ConfigMaps, many at a time, and returns their names.
func createConfigMaps(t *testing.T, b *testbed.Bed, n int) map[string]bool {
	const workers = 24
	next, failures := make(chan string), make(chan error, workers)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for name := range next {
				_, err := b.Admin().CoreV1().ConfigMaps(b.Namespace()).Create(b.Context(),
					&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
				if err != nil {
					select {
					case failures <- err:
					default:
					}
				}
			}
		})
	}
	names := make(map[string]bool, n)
	for i := range n {
		name := fmt.Sprintf("settings-%04d", i)
		names[name] = true
		next <- name
	}
	close(next)
	wg.Wait()
	close(failures)
	require.NoError(t, <-failures)
	return names
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
