package clientset_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/controllings/controllings/testbed"
)

// sharedImage is that of two containers which differ in their names.
const sharedImage = "registry.example/shop:1"

// createDeployment makes somebody else's Deployment: its containers are proxy and
// app, in this order. It is scaled to nothing and paused, so that little goes on
// with it that this check didn't ask for.
func createDeployment(b *testbed.Bed, name, proxyImage, appImage string) {
	labels := map[string]string{"app": name}
	_, err := b.Foreign().AppsV1().Deployments(b.Namespace()).Create(b.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)),
			Paused:   true,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{
					{Name: "proxy", Image: proxyImage},
					{Name: "app", Image: appImage, Env: []corev1.EnvVar{{Name: "COLOUR", Value: "blue"}}},
				}},
			},
		},
	}, metav1.CreateOptions{})
	b.Must(err, "make the Deployment")
}

// settled returns the Deployment when its controller has written all that it has
// to say about it. A patch that is held to what was read would be refused before.
func settled(b *testbed.Bed, name string) *appsv1.Deployment {
	var d *appsv1.Deployment
	err := wait.PollUntilContextTimeout(b.Context(), 10*time.Millisecond, testbed.Scale(10*time.Second), true, func(context.Context) (bool, error) {
		d = getDeployment(b, name)
		// One condition says that it is paused, the other that it is available.
		return d.Status.ObservedGeneration == d.Generation && len(d.Status.Conditions) == 2, nil
	})
	b.Must(err, "wait for the Deployment controller")
	return d
}

// ownerUpdates is what the Deployment's owner does. It retries a conflict: the
// Deployment controller writes the status meanwhile.
func ownerUpdates(b *testbed.Bed, name string, change func(*corev1.PodSpec)) ownersWord {
	owned := b.Foreign().AppsV1().Deployments(b.Namespace())
	var word ownersWord
	word.err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		deployment, err := owned.Get(b.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(&deployment.Spec.Template.Spec)
		word.left, err = owned.Update(b.Context(), deployment, metav1.UpdateOptions{})
		return err
	})
	return word
}

// ownersWord is the Deployment as its owner left it.
type ownersWord struct {
	left *appsv1.Deployment
	err  error
}

func getDeployment(b *testbed.Bed, name string) *appsv1.Deployment {
	deployment, err := b.Admin().AppsV1().Deployments(b.Namespace()).Get(b.Context(), name, metav1.GetOptions{})
	b.Must(err, "read the Deployment")
	return deployment
}

// describeContainers names what SetImage could change or lose of each container.
func describeContainers(d *appsv1.Deployment) string {
	var out []string
	for _, c := range d.Spec.Template.Spec.Containers {
		parts := []string{c.Image}
		for _, env := range c.Env {
			parts = append(parts, env.Name+"="+env.Value)
		}
		out = append(out, fmt.Sprintf("%s(%s)", c.Name, strings.Join(parts, " ")))
	}
	return strings.Join(out, " ")
}

// describeDeployment names what stands beside the containers too.
func describeDeployment(d *appsv1.Deployment) string {
	s := fmt.Sprintf("%s, labels %v", describeContainers(d), d.Labels)
	if len(d.Annotations) > 0 {
		s += fmt.Sprintf(", annotations %v", d.Annotations)
	}
	if len(d.Spec.Template.Annotations) > 0 {
		s += fmt.Sprintf(", in the template %v", d.Spec.Template.Annotations)
	}
	return s
}
