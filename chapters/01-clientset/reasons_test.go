package clientset_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
)

const errorsPart = "README.md#errors"

// reasons are the five, each under the name that it has in settings.go.
var reasons = []struct {
	name string
	err  error
}{
	{"ErrNotFound", clientset.ErrNotFound},
	{"ErrAlreadyExists", clientset.ErrAlreadyExists},
	{"ErrConflict", clientset.ErrConflict},
	{"ErrInvalid", clientset.ErrInvalid},
	{"ErrForbidden", clientset.ErrForbidden},
}

// expectExplain judges Explain alone: errors travel, wrapped by callers, and their
// text is for people.
func expectExplain(b *testbed.Bed) {
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "app")
	gone.ErrStatus.Message = "translated for people"
	expectReason(b, "Explain of a NotFound whose text says something else, wrapped by a caller",
		clientset.Explain(fmt.Errorf("read settings: %w", gone)), clientset.ErrNotFound)
	if err := clientset.Explain(nil); err != nil {
		b.Fail(testbed.Fail{Expected: "Explain(nil) to be nil", Seen: fmt.Sprintf("the error %v", err), See: errorsPart})
	}
	for _, code := range []int{http.StatusTooManyRequests, http.StatusBadRequest, http.StatusUnauthorized, http.StatusGone, http.StatusInternalServerError} {
		other := apierrors.NewGenericServerResponse(code, "get", schema.GroupResource{Resource: "configmaps"}, "app", "", 1, true)
		if found := reasonsOf(clientset.Explain(other)); len(found) > 0 {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("none of the five reasons for a %d, which calls for something else than they do", code),
				Seen:     strings.Join(found, " and "),
				See:      errorsPart,
			})
		}
	}
}

// expectReason judges one error: it must be of the reason want, of no other,
// and still be the API server's.
func expectReason(b *testbed.Bed, what string, err, want error) {
	wanted := reasonsOf(want)
	if found := reasonsOf(err); !slices.Equal(found, wanted) {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("%s: the reason %s, and no other", what, wanted[0]),
			Seen:     describe(err, found),
			See:      errorsPart,
		})
	}
	if apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
		b.Fail(testbed.Fail{
			Expected: what + ": the API server's own answer kept inside the error (%w)",
			Seen:     fmt.Sprintf("an error without it: %v", err),
			See:      errorsPart,
		})
	}
}

// reasonsOf names those of the five that errors.Is finds in err.
func reasonsOf(err error) []string {
	var found []string
	for _, reason := range reasons {
		if errors.Is(err, reason.err) {
			found = append(found, reason.name)
		}
	}
	return found
}

// describe says what an error is to a program, and what it says to a person.
func describe(err error, found []string) string {
	switch {
	case err == nil:
		return "no error"
	case len(found) == 0:
		return fmt.Sprintf("none of the five reasons in the error: %v", err)
	default:
		return fmt.Sprintf("%s in the error: %v", strings.Join(found, " and "), err)
	}
}
