package clientset

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
)

// PrintPods writes a line for each Pod of the namespace to out: its name and
// its phase.
func PrintPods(ctx context.Context, client kubernetes.Interface, namespace string, out io.Writer) error {
	pods, err := listPods(ctx, client, namespace, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("print the Pods of namespace %q: %w", namespace, err)
	}
	for _, pod := range pods.Items {
		if _, err := fmt.Fprintf(out, "%-20s %s\n", pod.Name, pod.Status.Phase); err != nil {
			return fmt.Errorf("print Pod %q: %w", pod.Name, err)
		}
	}
	return nil
}

// listPods asks the API server for the Pods of one namespace, once, with opts and
// no other options, until ctx ends. The namespace goes into the request as it is:
// an empty one means all of the cluster.
func listPods(ctx context.Context, client kubernetes.Interface, namespace string, opts metav1.ListOptions) (*corev1.PodList, error) {
	return client.CoreV1().Pods(namespace).List(ctx, opts)
}

// RunningPods returns the names of the Pods that carry the label app=<app>
// and whose phase is Running, of all of them: a Pod that is being deleted runs
// until its phase says otherwise. The API server does the selecting: what it
// doesn't send needs no memory, no network and no decoding here.
//
// app is a value, and never read as more of a selector. One that no Pod carries
// gives no names; one that can't be a label's value may be an error.
func RunningPods(ctx context.Context, client kubernetes.Interface, namespace, app string) ([]string, error) {
	ofApp, err := labels.ValidatedSelectorFromSet(labels.Set{"app": app})
	if err != nil {
		return nil, fmt.Errorf("select the Pods of app %q: %w", app, err)
	}
	pods, err := listPods(ctx, client, namespace, metav1.ListOptions{
		LabelSelector: ofApp.String(),
		FieldSelector: fields.OneTermEqualSelector("status.phase", string(corev1.PodRunning)).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("list the running Pods of app %q: %w", app, err)
	}
	names := make([]string, 0, len(pods.Items))
	for _, pod := range pods.Items {
		names = append(names, pod.Name)
	}
	return names, nil
}
