package clientset_test

import (
	"bytes"
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

var podLists = proxy.Match{Verb: "list", Resource: "pods"}

func TestPrintPods(t *testing.T) {
	b := testbed.New(t)
	createPod(b, "web-0", "web", corev1.PodRunning)
	createPod(b, "web-1", "web", corev1.PodPending)
	createPod(b, "db-0", "db", corev1.PodFailed)
	want := []string{"db-0 Failed", "web-0 Running", "web-1 Pending"}

	var out bytes.Buffer
	err := clientset.PrintPods(b.Context(), b.Clientset(), b.Namespace(), &out)
	b.NoError(err, testbed.Fail{
		Expected: fmt.Sprintf("a list of the Pods of namespace %s, and of no other", b.Namespace()),
		See:      "README.md#a-request",
	})

	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		b.Fail(testbed.Fail{
			Expected: "one line for each Pod, name and phase: " + strings.Join(want, ", "),
			Seen:     orNothing(strings.Join(got, ", ")),
			See:      "README.md#a-request",
		})
	}

	// A namespace that this identity may not read: the answer is an error, and
	// it must reach the caller rather than look like an empty namespace.
	out.Reset()
	if err := clientset.PrintPods(b.Context(), b.Clientset(), "kube-system", &out); err == nil {
		b.Fail(testbed.Fail{
			Expected: "the API server's refusal handed on as an error: the Pods of kube-system are not yours to list",
			Seen:     "no error, and the output " + orNothing(out.String()),
			See:      "README.md#a-request",
		})
	}
}

func TestRunningPodsSelectsAtTheServer(t *testing.T) {
	b := testbed.New(t)
	createPod(b, "web-0", "web", corev1.PodRunning)
	createPod(b, "web-1", "web", corev1.PodRunning)
	createPod(b, "web-2", "web", corev1.PodPending)
	createPod(b, "db-0", "db", corev1.PodRunning)
	want := []string{"web-0", "web-1"}

	before := b.Traffic().Mark()
	got, err := clientset.RunningPods(b.Context(), b.Clientset(), b.Namespace(), "web")
	b.NoError(err, testbed.Fail{
		Expected: "the names of the running Pods of app web",
		See:      "README.md#selectors",
	})
	slices.Sort(got)
	if !slices.Equal(got, want) {
		b.Fail(testbed.Fail{
			Expected: "the running Pods of app web: " + strings.Join(want, ", "),
			Seen:     orNothing(strings.Join(got, ", ")),
			See:      "README.md#selectors",
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
			See:      "README.md#selectors",
		}},
	}, testbed.Fail{
		Expected: "the API server to do the selecting: labelSelector=app=web and fieldSelector=status.phase=Running in the request",
		Seen:     "Pods were fetched that are thrown away here",
		See:      "README.md#selectors",
	})
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
