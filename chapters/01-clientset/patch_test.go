package clientset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

const patchesPart = "README.md#patches"

func TestSetImageChangesOneField(t *testing.T) {
	b := testbed.New(t)
	before := createDeployment(b)

	mark := b.Traffic().Mark()
	err := clientset.SetImage(b.Context(), b.Clientset(), b.Namespace(), "web", "app", "registry.example/app:2")
	// What was sent comes first: it explains whatever came of it.
	expectOneField(b, mark, err)
	b.NoError(err, testbed.Fail{
		Expected: "the image of container app set to registry.example/app:2",
		See:      patchesPart,
	})
	want := before.Spec.DeepCopy()
	want.Template.Spec.Containers[1].Image = "registry.example/app:2"
	if after := getDeployment(b); !equality.Semantic.DeepEqual(*want, after.Spec) {
		b.Fail(testbed.Fail{
			Expected: "the image of container app changed, and every other field of the Deployment as it was: " +
				describeContainers(want.Template.Spec.Containers),
			Seen: containers(after),
			See:  patchesPart,
		})
	}

	// The other container, which is the first of the list.
	err = clientset.SetImage(b.Context(), b.Clientset(), b.Namespace(), "web", "proxy", "registry.example/proxy:8")
	b.NoError(err, testbed.Fail{Expected: "the image of container proxy set to registry.example/proxy:8", See: patchesPart})
	want.Template.Spec.Containers[0].Image = "registry.example/proxy:8"
	if after := getDeployment(b); !equality.Semantic.DeepEqual(*want, after.Spec) {
		b.Fail(testbed.Fail{
			Expected: "the image of container proxy changed after that of app: " + describeContainers(want.Template.Spec.Containers),
			Seen:     containers(after),
			See:      patchesPart,
		})
	}

	// A container that isn't there.
	err = clientset.SetImage(b.Context(), b.Clientset(), b.Namespace(), "web", "nosuch", "registry.example/app:2")
	if after := getDeployment(b); len(after.Spec.Template.Spec.Containers) != 2 || err == nil {
		b.Fail(testbed.Fail{
			Expected: "an error for the container nosuch, which isn't there, and the Deployment left alone",
			Seen:     fmt.Sprintf("error %v, and the containers %s", err, containers(after)),
			See:      patchesPart,
		})
	}

	// The Deployment's owner puts the containers into another order, between
	// what was read and what is written.
	reordered := make(chan error, 1)
	reorder := b.Faults().Add(proxy.Rule{
		Match:  proxy.Match{Verb: "patch", Group: "apps", Resource: "deployments"},
		Times:  1,
		Before: func() { reordered <- reverseContainers(b) },
	})
	err = clientset.SetImage(b.Context(), b.Clientset(), b.Namespace(), "web", "app", "registry.example/app:3")
	if reorder.Hits() != 1 {
		b.Fail(testbed.Fail{
			Expected: "a PATCH for the image of container app",
			Seen:     fmt.Sprintf("no PATCH, and the error %v", err),
			See:      patchesPart,
		})
	}
	b.Must(<-reordered, "reorder the containers")
	for _, c := range getDeployment(b).Spec.Template.Spec.Containers {
		if c.Name == "proxy" && c.Image != "registry.example/proxy:8" {
			b.Fail(testbed.Fail{
				Expected: "the image of container app set, or an error, when the owner reorders the containers in between",
				Seen:     "the image of container proxy overwritten with " + c.Image,
				See:      patchesPart,
			})
		}
	}
}

var deployments = proxy.Match{Group: "apps", Resource: "deployments"}

// expectOneField judges what was sent since the mark: nothing but the field that
// is ours. err is what SetImage returned.
func expectOneField(b *testbed.Bed, mark proxy.Mark, err error) {
	something := testbed.Presence{Match: deployments, Otherwise: testbed.Fail{
		Expected: "a PATCH with the one field that is yours",
		Seen:     fmt.Sprintf("no request for a Deployment, and the error %v", err),
		See:      patchesPart,
	}}
	b.NoRequestsSince(mark, testbed.Absence{
		Match:    proxy.Match{Verb: "update", Group: "apps", Resource: "deployments"},
		Presence: something,
	}, testbed.Fail{
		Expected: "a PATCH with the one field that is yours",
		Seen:     "a PUT with the whole Deployment: what its owner changes between your read and your write is refused or lost",
		See:      patchesPart,
	})
	b.NoRequestsSince(mark, testbed.Absence{
		Match:    proxy.Match{Verb: "patch", Group: "apps", Resource: "deployments"},
		Where:    func(r proxy.Request) bool { return strings.Contains(string(r.Body), "registry.example/proxy") },
		Presence: something,
	}, testbed.Fail{
		Expected: "a patch that holds nothing but the image of container app",
		Seen:     "a patch that sends the other container along",
		See:      patchesPart,
	})
}

// reverseContainers is what the Deployment's owner does. It retries a conflict:
// the Deployment controller writes the status meanwhile.
func reverseContainers(b *testbed.Bed) error {
	owned := b.Foreign().AppsV1().Deployments(b.Namespace())
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		deployment, err := owned.Get(b.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		slices.Reverse(deployment.Spec.Template.Spec.Containers)
		_, err = owned.Update(b.Context(), deployment, metav1.UpdateOptions{})
		return err
	})
}

// createDeployment makes somebody else's Deployment, scaled to nothing: its
// containers are proxy and app, in this order.
func createDeployment(b *testbed.Bed) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	deployment, err := b.Foreign().AppsV1().Deployments(b.Namespace()).Create(b.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{
					{Name: "proxy", Image: "registry.example/proxy:7"},
					{Name: "app", Image: "registry.example/app:1", Env: []corev1.EnvVar{{Name: "COLOUR", Value: "blue"}}},
				}},
			},
		},
	}, metav1.CreateOptions{})
	b.Must(err, "make the Deployment")
	return deployment
}

func getDeployment(b *testbed.Bed) *appsv1.Deployment {
	deployment, err := b.Admin().AppsV1().Deployments(b.Namespace()).Get(b.Context(), "web", metav1.GetOptions{})
	b.Must(err, "read the Deployment")
	return deployment
}

func containers(d *appsv1.Deployment) string {
	return describeContainers(d.Spec.Template.Spec.Containers)
}

// describeContainers names each container with what SetImage could lose of it.
func describeContainers(all []corev1.Container) string {
	var out []string
	for _, c := range all {
		out = append(out, fmt.Sprintf("%s(%s, %d env)", c.Name, c.Image, len(c.Env)))
	}
	return strings.Join(out, " ")
}
