package clientset_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

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

func TestSettingsTellErrorsApart(t *testing.T) {
	b := testbed.New(t)
	ctx, client, ns := b.Context(), b.Clientset(), b.Namespace()

	// Explain alone: errors travel, wrapped by callers, and their text is for people.
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

	// The way that works: create, read, change, read again, delete.
	created, err := clientset.CreateSettings(ctx, client, ns, "app", map[string]string{"colour": "blue"})
	b.NoError(err, testbed.Fail{Expected: "CreateSettings to make the ConfigMap app", See: errorsPart})
	if created == nil || created.UID == "" {
		b.Fail(testbed.Fail{
			Expected: "CreateSettings to return the ConfigMap as the API server stored it, with a UID",
			Seen:     fmt.Sprintf("%+v", created),
			See:      errorsPart,
		})
	}
	read, err := clientset.GetSettings(ctx, client, ns, "app")
	b.NoError(err, testbed.Fail{Expected: "GetSettings to read the ConfigMap app", See: errorsPart})
	if read == nil || read.UID != created.UID {
		b.Fail(testbed.Fail{
			Expected: "GetSettings to return the ConfigMap that was created, UID " + string(created.UID),
			Seen:     fmt.Sprintf("%+v", read),
			See:      errorsPart,
		})
	}
	stale := read.DeepCopy()
	read.Data["colour"] = "green"
	_, err = clientset.UpdateSettings(ctx, client, read)
	b.NoError(err, testbed.Fail{Expected: "UpdateSettings to write the changed ConfigMap", See: errorsPart})
	stored, err := b.Admin().CoreV1().ConfigMaps(ns).Get(ctx, "app", metav1.GetOptions{})
	b.Must(err, "read the ConfigMap")
	if stored.Data["colour"] != "green" {
		b.Fail(testbed.Fail{
			Expected: "colour=green in the stored ConfigMap after UpdateSettings",
			Seen:     fmt.Sprintf("colour=%s", stored.Data["colour"]),
			See:      errorsPart,
		})
	}

	// The five ways that don't, each by the API server itself.
	_, err = clientset.CreateSettings(ctx, client, ns, "app", map[string]string{"colour": "green"})
	expectReason(b, "CreateSettings of a name that is taken", err, clientset.ErrAlreadyExists)

	stale.Data["colour"] = "red"
	_, err = clientset.UpdateSettings(ctx, client, stale)
	if err == nil {
		b.Fail(testbed.Fail{
			Expected: "UpdateSettings of a ConfigMap that changed after it was read: ErrConflict, and nothing written",
			Seen:     "no error: colour=green, which was written in between, is overwritten with colour=red",
			See:      errorsPart,
		})
	}
	expectReason(b, "UpdateSettings of a ConfigMap that changed after it was read", err, clientset.ErrConflict)

	_, err = clientset.CreateSettings(ctx, client, ns, "app2", map[string]string{"no/slashes": "x"})
	expectReason(b, "CreateSettings with a key that ConfigMaps don't allow", err, clientset.ErrInvalid)

	_, err = clientset.GetSettings(ctx, client, "kube-system", "app")
	expectReason(b, "GetSettings in a namespace that isn't yours", err, clientset.ErrForbidden)

	err = clientset.DeleteSettings(ctx, client, ns, "app")
	b.NoError(err, testbed.Fail{Expected: "DeleteSettings to remove the ConfigMap app", See: errorsPart})
	_, err = clientset.GetSettings(ctx, client, ns, "app")
	expectReason(b, "GetSettings of a ConfigMap that was deleted", err, clientset.ErrNotFound)
	err = clientset.DeleteSettings(ctx, client, ns, "app")
	expectReason(b, "DeleteSettings of a ConfigMap that is gone", err, clientset.ErrNotFound)
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
