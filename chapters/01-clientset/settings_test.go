package clientset_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

func TestSettingsTellErrorsApart(t *testing.T) {
	b := testbed.New(t)
	ctx, client, ns := b.Context(), b.Clientset(), b.Namespace()
	expectExplain(b)

	// The way that works: create, read, change, read again, delete.
	created, err := clientset.CreateSettings(ctx, client, ns, "app", map[string]string{"colour": "blue"})
	b.NoError(err, testbed.Fail{Expected: "CreateSettings to make the ConfigMap app", See: errorsPart})
	if created == nil || created.UID == "" || created.Data["colour"] != "blue" {
		b.Fail(testbed.Fail{
			Expected: "CreateSettings to return the ConfigMap as the API server stored it, with a UID and colour=blue",
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
	expectAllOfIt(b, read)

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

	stale.Data["colour"] = "green"
	_, err = clientset.UpdateSettings(ctx, client, stale)
	expectReason(b, "UpdateSettings with the data that somebody else has written in between", err, clientset.ErrConflict)

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

	expectOneRequest(b)
}

// expectAllOfIt changes a ConfigMap that was read in each of its parts, and judges
// what UpdateSettings makes of it.
func expectAllOfIt(b *testbed.Bed, settings *corev1.ConfigMap) {
	settings.Data["colour"] = "green"
	settings.BinaryData = map[string][]byte{"logo": {0xff}}
	settings.Labels = map[string]string{"team": "shop"}
	settings.Annotations = map[string]string{"example.com/why": "a new coat"}
	given := settings.DeepCopy()

	updated, err := clientset.UpdateSettings(b.Context(), b.Clientset(), settings)
	b.NoError(err, testbed.Fail{Expected: "UpdateSettings to write the changed ConfigMap", See: errorsPart})
	if !equality.Semantic.DeepEqual(settings, given) {
		b.Fail(testbed.Fail{
			Expected: "the ConfigMap that UpdateSettings is given to stay as it is, which is the caller's: " + describeSettings(given),
			Seen:     describeSettings(settings),
			See:      errorsPart,
		})
	}
	stored, err := b.Admin().CoreV1().ConfigMaps(b.Namespace()).Get(b.Context(), given.Name, metav1.GetOptions{})
	b.Must(err, "read the ConfigMap")
	for _, part := range []struct {
		name          string
		given, stored any
	}{
		{"data", given.Data, stored.Data},
		{"labels", given.Labels, stored.Labels},
		{"annotations", given.Annotations, stored.Annotations},
		{"binaryData", given.BinaryData, stored.BinaryData},
	} {
		if !equality.Semantic.DeepEqual(part.given, part.stored) {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("UpdateSettings to write all of the ConfigMap that it is given, with the %s %v", part.name, part.given),
				Seen:     fmt.Sprintf("the %s %v in what is stored", part.name, part.stored),
				See:      errorsPart,
			})
		}
	}
	if updated == nil || updated.ResourceVersion != stored.ResourceVersion {
		b.Fail(testbed.Fail{
			Expected: "UpdateSettings to return the ConfigMap as the API server stored it, resourceVersion " + stored.ResourceVersion,
			Seen:     fmt.Sprintf("%+v", updated),
			See:      errorsPart,
		})
	}
}

// describeSettings says of a ConfigMap what a caller sees first.
func describeSettings(cm *corev1.ConfigMap) string {
	return fmt.Sprintf("resourceVersion %s, data %v, binaryData %v, labels %v, annotations %v",
		cm.ResourceVersion, cm.Data, cm.BinaryData, cm.Labels, cm.Annotations)
}

// expectOneRequest looks at what each function sends, where all goes well and
// where it doesn't.
func expectOneRequest(b *testbed.Bed) {
	client, ns := b.Clientset(), b.Namespace()
	data := map[string]string{"colour": "blue"}
	stale := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stale"}, Data: data}
	b.Create(stale)
	newer := stale.DeepCopy()
	newer.Data["colour"] = "green"
	_, err := b.Admin().CoreV1().ConfigMaps(ns).Update(b.Context(), newer, metav1.UpdateOptions{})
	b.Must(err, "change the ConfigMap")

	for _, tc := range []struct {
		what string
		call func(context.Context) error
	}{
		{"CreateSettings", func(ctx context.Context) error {
			_, err := clientset.CreateSettings(ctx, client, ns, "once", data)
			return err
		}},
		{"CreateSettings of a name that is taken", func(ctx context.Context) error {
			_, err := clientset.CreateSettings(ctx, client, ns, "once", data)
			return err
		}},
		{"GetSettings", func(ctx context.Context) error {
			_, err := clientset.GetSettings(ctx, client, ns, "once")
			return err
		}},
		{"UpdateSettings of a ConfigMap that has changed", func(ctx context.Context) error {
			_, err := clientset.UpdateSettings(ctx, client, stale)
			return err
		}},
		{"DeleteSettings", func(ctx context.Context) error {
			return clientset.DeleteSettings(ctx, client, ns, "once")
		}},
	} {
		expectContext(b, tc.what, tc.call)
		mark := b.Traffic().Mark()
		_ = tc.call(b.Context()) // the error has been judged
		sent := b.Traffic().Since(mark).Requests(proxy.Match{Resource: "configmaps"})
		// What the API server had no time for, client-go sends again by itself.
		sent = slices.DeleteFunc(sent, func(r proxy.Request) bool { return r.Status == http.StatusTooManyRequests })
		if len(sent) != 1 {
			b.Fail(testbed.Fail{
				Expected: tc.what + ": one request, whose answer says all there is to say",
				Seen:     fmt.Sprintf("%d requests", len(sent)),
				See:      errorsPart,
			})
		}
	}
}
