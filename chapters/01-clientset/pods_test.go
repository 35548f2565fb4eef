package clientset_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

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
	refused := b.Traffic().Mark()
	if err := clientset.PrintPods(b.Context(), b.Clientset(), "kube-system", &out); err == nil {
		b.Fail(testbed.Fail{
			Expected: "the API server's refusal handed on as an error: the Pods of kube-system are not yours to list",
			Seen:     "no error, and the output " + orNothing(out.String()),
			See:      "README.md#a-request",
		})
	}
	if n := b.Traffic().Since(refused).Count(podLists); n > 1 {
		b.Fail(testbed.Fail{
			Expected: "one list of the Pods of kube-system: to be Forbidden is no reason to try again",
			Seen:     fmt.Sprintf("%d lists", n),
			See:      "README.md#errors",
		})
	}

	expectRequest(b)
	expectOneList(b)
	expectNoDeadline(b)
	expectContext(b, "PrintPods", func(ctx context.Context) error {
		return clientset.PrintPods(ctx, b.Clientset(), b.Namespace(), io.Discard)
	})
}

// expectNoDeadline looks at the context of the request: a limit in it would be one that
// the caller didn't set.
func expectNoDeadline(b *testbed.Bed) {
	var contexts seenContexts
	err := clientset.PrintPods(b.Context(), contexts.client(b), b.Namespace(), io.Discard)
	b.NoError(err, testbed.Fail{Expected: "the Pods of the namespace to be printed", See: "README.md#a-request"})
	for _, ctx := range contexts.list(b) {
		if end, ok := ctx.Deadline(); ok {
			b.Fail(testbed.Fail{
				Expected: "the request to go on until the caller's context ends, which has no deadline here",
				Seen:     fmt.Sprintf("a deadline in the request's context, %s from now", time.Until(end).Round(time.Second)),
				See:      "README.md#a-request",
			})
		}
	}
}

// expectOneList spoils one list. An error that a moment might mend is an answer too:
// whether to ask again is for the caller to say.
func expectOneList(b *testbed.Bed) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		fault := b.Faults().Add(proxy.Rule{Match: podLists, Status: status, Times: 1})
		mark := b.Traffic().Mark()
		err := clientset.PrintPods(b.Context(), b.Clientset(), b.Namespace(), io.Discard)
		fault.Remove()
		if n := b.Traffic().Since(mark).Count(podLists); err == nil || n != 1 {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("one list, answered with %d %s here, and this answer as the error", status, http.StatusText(status)),
				Seen:     fmt.Sprintf("%d lists, and the error %v", n, err),
				See:      "README.md#a-request",
			})
		}
	}
}

// expectRequest looks at what PrintPods asks for: the namespace that it was given,
// and nothing that it was not. The caller's deadline is no option of the list's.
func expectRequest(b *testbed.Bed) {
	ctx, cancel := context.WithTimeout(b.Context(), testbed.Scale(time.Minute))
	defer cancel()
	for _, tc := range []struct{ namespace, path string }{
		{b.Namespace(), "/api/v1/namespaces/" + b.Namespace() + "/pods"},
		{"", "/api/v1/pods"},
	} {
		mark := b.Traffic().Mark()
		err := clientset.PrintPods(ctx, b.Clientset(), tc.namespace, io.Discard)
		for _, r := range b.Traffic().Since(mark).Requests(podLists) {
			if r.Path != tc.path {
				b.Fail(testbed.Fail{
					Expected: fmt.Sprintf("the namespace %q in the request as it was given: GET %s", tc.namespace, tc.path),
					Seen:     r.URI(),
					See:      "README.md#a-request",
				})
			}
			if len(r.Query) > 0 {
				b.Fail(testbed.Fail{
					Expected: "the options that listPods was given, which are none: GET " + tc.path,
					Seen:     r.URI(),
					See:      "README.md#a-request",
				})
			}
		}
		if tc.namespace == "" && err == nil {
			b.Fail(testbed.Fail{
				Expected: "an error for the Pods of all namespaces, which are not yours to list",
				Seen:     "no error",
				See:      "README.md#a-request",
			})
		}
	}
}
