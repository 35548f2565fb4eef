package clientset_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

const patchesPart = "README.md#patches"

func TestSetImageChangesOneField(t *testing.T) {
	b := testbed.New(t)
	createDeployment(b, "web", "registry.example/proxy:7", "registry.example/app:1")
	want := settled(b, "web")

	mark := b.Traffic().Mark()
	err := setImage(b, "web", "app", "registry.example/app:2")
	// What was sent comes first: it explains whatever came of it.
	expectOneField(b, mark, err)
	b.NoError(err, testbed.Fail{
		Expected: "the image of container app set to registry.example/app:2",
		See:      patchesPart,
	})
	want.Spec.Template.Spec.Containers[1].Image = "registry.example/app:2"
	expectAsIs(b, "the image of container app changed, and every other field of the Deployment as it was", want)

	// The other container, which is the first of the list.
	settled(b, "web")
	err = setImage(b, "web", "proxy", "registry.example/proxy:8")
	b.NoError(err, testbed.Fail{Expected: "the image of container proxy set to registry.example/proxy:8", See: patchesPart})
	want.Spec.Template.Spec.Containers[0].Image = "registry.example/proxy:8"
	expectAsIs(b, "the image of container proxy changed after that of app", want)

	// A container that isn't there.
	err = setImage(b, "web", "nosuch", "registry.example/app:2")
	if after := getDeployment(b, "web"); len(after.Spec.Template.Spec.Containers) != 2 || err == nil {
		b.Fail(testbed.Fail{
			Expected: "an error for the container nosuch, which isn't there, and the Deployment left alone",
			Seen:     fmt.Sprintf("error %v, and the containers %s", err, describeContainers(after)),
			See:      patchesPart,
		})
	}

	ownerReorders(b)
	ownerChanges(b)
	ownerRemoves(b)
}

// ownerReorders puts the containers into another order between what SetImage has
// read and what it writes. Both have the same image, so the name alone tells them
// apart.
func ownerReorders(b *testbed.Bed) {
	left, err := meanwhile(b, "reordered", func(spec *corev1.PodSpec) { slices.Reverse(spec.Containers) })
	for _, c := range getDeployment(b, left.Name).Spec.Template.Spec.Containers {
		if c.Name == "proxy" && c.Image != sharedImage {
			b.Fail(testbed.Fail{
				Expected: "the image of container app set, or an error, when the owner reorders the containers in between",
				Seen:     "the image of container proxy overwritten with " + c.Image,
				See:      patchesPart,
			})
		}
	}
	expectOwnersWord(b, "the containers in the order that their owner gave them between your read and your write", left, err)
}

// ownerChanges changes another field of the same container.
func ownerChanges(b *testbed.Bed) {
	left, err := meanwhile(b, "changed", func(spec *corev1.PodSpec) {
		spec.Containers[1].Env = []corev1.EnvVar{{Name: "COLOUR", Value: "green"}}
	})
	expectOwnersWord(b, "the environment of container app as its owner changed it between your read and your write", left, err)
}

// ownerRemoves removes the container.
func ownerRemoves(b *testbed.Bed) {
	left, err := meanwhile(b, "removed", func(spec *corev1.PodSpec) { spec.Containers = spec.Containers[:1] })
	after := getDeployment(b, left.Name)
	if len(after.Spec.Template.Spec.Containers) > 1 {
		b.Fail(testbed.Fail{
			Expected: "no container app any more: its owner removed it between your read and your write",
			Seen:     fmt.Sprintf("a new container made of the patch: error %v, and the containers %s", err, describeContainers(after)),
			See:      patchesPart,
		})
	}
	if err == nil {
		b.Fail(testbed.Fail{
			Expected: "an error when the owner has removed container app between your read and your write: there is no image to set",
			Seen:     "no error, and the containers " + describeContainers(after),
			See:      patchesPart,
		})
	}
	expectOwnersWord(b, "the Deployment as its owner left it, without container app", left, err)
}

// meanwhile lets SetImage set the image of container app, and the Deployment's
// owner change something between what it has read and what it writes. It returns
// what the owner left behind, and SetImage's error.
func meanwhile(b *testbed.Bed, name string, change func(*corev1.PodSpec)) (*appsv1.Deployment, error) {
	createDeployment(b, name, sharedImage, sharedImage)
	words := make(chan ownersWord, 1)
	owner := b.Faults().Add(proxy.Rule{
		Match:  proxy.Match{Verb: "patch", Group: "apps", Resource: "deployments", Name: name},
		Times:  1,
		Before: func() { words <- ownerUpdates(b, name, change) },
	})
	defer owner.Remove()
	err := setImage(b, name, "app", "registry.example/app:3")
	if owner.Hits() != 1 {
		b.Fail(testbed.Fail{
			Expected: "a PATCH for the image of container app",
			Seen:     fmt.Sprintf("no PATCH, and the error %v", err),
			See:      patchesPart,
		})
	}
	word := <-words
	b.Must(word.err, "change the Deployment as its owner")
	return word.left, err
}

func setImage(b *testbed.Bed, deployment, container, image string) error {
	return clientset.SetImage(b.Context(), b.Clientset(), b.Namespace(), deployment, container, image)
}

// expectOneField judges what was sent since the mark: nothing but the field that
// is ours. err is what SetImage returned.
func expectOneField(b *testbed.Bed, mark proxy.Mark, err error) {
	something := testbed.Presence{Match: proxy.Match{Group: "apps", Resource: "deployments"}, Otherwise: testbed.Fail{
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

// expectAsIs compares a Deployment with what it should be, where nobody else has
// changed it: its spec, its labels and its annotations.
func expectAsIs(b *testbed.Bed, expected string, want *appsv1.Deployment) {
	after := getDeployment(b, want.Name)
	if !equality.Semantic.DeepEqual(want.Spec, after.Spec) ||
		!maps.Equal(want.Labels, after.Labels) || !maps.Equal(want.Annotations, after.Annotations) {
		b.Fail(testbed.Fail{
			Expected: expected + ": " + describeDeployment(want),
			Seen:     describeDeployment(after),
			See:      patchesPart,
		})
	}
}

// expectOwnersWord compares a Deployment with what its owner left behind. Only the
// image of container app may be another, and must be where SetImage says so.
func expectOwnersWord(b *testbed.Bed, expected string, left *appsv1.Deployment, err error) {
	want := left.DeepCopy()
	for i := range want.Spec.Template.Spec.Containers {
		if c := &want.Spec.Template.Spec.Containers[i]; c.Name == "app" && err == nil {
			c.Image = "registry.example/app:3"
		}
	}
	if after := getDeployment(b, left.Name); !equality.Semantic.DeepEqual(want.Spec, after.Spec) {
		b.Fail(testbed.Fail{
			Expected: expected + ": " + describeContainers(want),
			Seen:     fmt.Sprintf("error %v, and %s", err, describeContainers(after)),
			See:      patchesPart,
		})
	}
}
