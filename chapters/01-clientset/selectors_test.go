package clientset_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

const selectorsPart = "README.md#selectors"

func TestRunningPodsSelectsAtTheServer(t *testing.T) {
	b := testbed.New(t)
	createPod(b, "web-0", "web", corev1.PodRunning)
	createPod(b, "web-1", "web", corev1.PodRunning)
	createPod(b, "web-2", "web", corev1.PodPending)
	createPod(b, "db-0", "db", corev1.PodRunning)
	createPod(b, "blank-0", "", corev1.PodRunning)
	defer createLeavingPod(b, "web-3", "web")()
	want := []string{"web-0", "web-1", "web-3"}

	before := b.Traffic().Mark()
	got, err := clientset.RunningPods(b.Context(), b.Clientset(), b.Namespace(), "web")
	b.NoError(err, testbed.Fail{
		Expected: "the names of the running Pods of app web",
		See:      selectorsPart,
	})
	slices.Sort(got)
	if !slices.Equal(got, want) {
		b.Fail(testbed.Fail{
			Expected: "the running Pods of app web: web-0, web-1, and web-3, which is being deleted and still in phase Running",
			Seen:     orNothing(strings.Join(got, ", ")),
			See:      selectorsPart,
		})
	}

	b.NoRequestsSince(before, testbed.Absence{
		Match: podLists,
		Where: func(r proxy.Request) bool {
			return letsThrough(r, "db", corev1.PodRunning) || slices.ContainsFunc(
				[]corev1.PodPhase{corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown},
				func(phase corev1.PodPhase) bool { return letsThrough(r, "web", phase) })
		},
		Presence: testbed.Presence{Match: podLists, Otherwise: testbed.Fail{
			Expected: "one list request for Pods",
			Seen:     "no list of Pods reached the API server",
			See:      selectorsPart,
		}},
	}, testbed.Fail{
		Expected: "the API server to do the selecting: labelSelector=app=web and fieldSelector=status.phase=Running in the request",
		Seen:     "Pods were fetched that are thrown away here",
		See:      selectorsPart,
	})

	expectOneValue(b)
	expectEmptyValue(b)
	expectAllPages(b, want)
	expectContext(b, "RunningPods", func(ctx context.Context) error {
		_, err := clientset.RunningPods(ctx, b.Clientset(), b.Namespace(), "web")
		return err
	})
}

// expectOneValue asks for apps that no Pod is of. Put into a selector as they are,
// they would choose Pods all the same.
func expectOneValue(b *testbed.Bed) {
	for _, app := range []string{"web,db", "web,app!=db", "=web", " web "} {
		got, err := clientset.RunningPods(b.Context(), b.Clientset(), b.Namespace(), app)
		if err == nil && len(got) > 0 {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("app %q to be one value, which no Pod carries: no names, or an error where it can't be a label's value", app),
				Seen:     strings.Join(got, ", "),
				See:      selectorsPart,
			})
		}
	}
}

// expectEmptyValue asks for the Pods whose label is there and empty.
func expectEmptyValue(b *testbed.Bed) {
	got, err := clientset.RunningPods(b.Context(), b.Clientset(), b.Namespace(), "")
	b.NoError(err, testbed.Fail{
		Expected: "blank-0 for the app \"\", which is a label's value as any other",
		See:      selectorsPart,
	})
	if !slices.Equal(got, []string{"blank-0"}) {
		b.Fail(testbed.Fail{
			Expected: "blank-0 for the app \"\", the one running Pod whose label app is there and empty",
			Seen:     orNothing(strings.Join(got, ", ")),
			See:      selectorsPart,
		})
	}
}

// expectAllPages asks an API server that sends one Pod at a time to whoever sets a
// limit.
func expectAllPages(b *testbed.Bed, want []string) {
	got, err := clientset.RunningPods(b.Context(), shortPages(b, 1), b.Namespace(), "web")
	b.NoError(err, testbed.Fail{
		Expected: "the names of the running Pods of app web, page by page",
		See:      "README.md#pages",
	})
	slices.Sort(got)
	if !slices.Equal(got, want) {
		b.Fail(testbed.Fail{
			Expected: "all running Pods of app web, also where the list has a limit and its first page (of one Pod here) is not the last: " + strings.Join(want, ", "),
			Seen:     orNothing(strings.Join(got, ", ")),
			See:      "README.md#pages",
		})
	}
}

// letsThrough tells whether a list's selectors choose a Pod with this label and
// phase. What can't be read as a selector chooses all, as none does.
func letsThrough(r proxy.Request, app string, phase corev1.PodPhase) bool {
	label, err := labels.Parse(r.Query.Get("labelSelector"))
	if err == nil && !label.Matches(labels.Set{"app": app}) {
		return false
	}
	field, err := fields.ParseSelector(r.Query.Get("fieldSelector"))
	return err != nil || field.Matches(fields.Set{"status.phase": string(phase)})
}
