package testbed

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/controllings/controllings/testbed/internal/ours"
	"github.com/controllings/controllings/testbed/proxy"
)

// fixture is a name that no other run uses, and n ConfigMaps. What is made of it
// goes with the test.
func fixture(t *testing.T, n int) (string, []Object) {
	t.Helper()
	name := "test-" + rand.String(5)
	objects := make([]Object, n)
	for i := range objects {
		objects[i] = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c-%02d", i)}}
	}
	namespace, err := sharedName(name, objects)
	require.NoError(t, err)
	config, err := clusterConfig()
	require.NoError(t, err)
	admin, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = admin.CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{})
	})
	return name, objects
}

// made counts the ConfigMaps that were made as Admin, by the beds made from now
// on. each is called before each.
func made(t *testing.T, each func(n int64)) *atomic.Int64 {
	t.Helper()
	config, err := clusterConfig()
	require.NoError(t, err)
	n := &atomic.Int64{}
	counted := rest.CopyConfig(config)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return wrapped{next, func(r *http.Request) *http.Request {
			if about := proxy.Describe(r); about.Verb == "create" && about.Resource == "configmaps" {
				if i := n.Add(1); each != nil {
					each(i)
				}
			}
			return r
		}}
	})
	original := clusterConfig
	clusterConfig = func() (*rest.Config, error) { return counted, nil }
	t.Cleanup(func() { clusterConfig = original })
	return n
}

// complete wants exactly the objects in the namespace, beside what the cluster
// puts into each.
func complete(t *testing.T, b *Bed, namespace string, objects []Object) {
	t.Helper()
	list, err := b.Clientset().CoreV1().ConfigMaps(namespace).List(b.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var want, have []string
	for _, o := range objects {
		want = append(want, o.GetName())
	}
	for _, o := range list.Items {
		if o.Name != "kube-root-ca.crt" {
			have = append(have, o.Name)
		}
	}
	assert.ElementsMatch(t, want, have)
}

func TestSharedIsMadeOnce(t *testing.T) {
	name, objects := fixture(t, 20)
	n := made(t, nil)
	var first string
	t.Run("first", func(t *testing.T) {
		b := newBed(t)
		first = b.Shared(name, objects...)
		complete(t, b, first, objects)
		assert.EqualValues(t, 20, n.Load())
		assert.Empty(t, objects[0].GetUID(), "the caller's object was changed")
	})
	t.Run("again", func(t *testing.T) {
		b := newBed(t)
		assert.Equal(t, first, b.Shared(name, objects...))
		complete(t, b, first, objects)
		assert.Equal(t, first, b.Shared(name, objects...), "twice in one bed")
		assert.EqualValues(t, 20, n.Load(), "objects were made again")
	})
}

func TestSharedNames(t *testing.T) {
	object := func(change func(*corev1.ConfigMap)) Object {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "o"}}
		change(o)
		return o
	}
	of := func(objects ...Object) string {
		name, err := sharedName("n", objects)
		require.NoError(t, err)
		return name
	}
	plain := of(object(func(*corev1.ConfigMap) {}))
	assert.Regexp(t, `^shared-n-[0-9a-f]{8}$`, plain)
	assert.Equal(t, plain, of(object(func(o *corev1.ConfigMap) { o.Namespace = "elsewhere" })))
	assert.NotEqual(t, plain, of(object(func(o *corev1.ConfigMap) { o.Data = map[string]string{"k": "v"} })))
	assert.NotEqual(t, plain, of(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "o"}}))
	assert.NotEqual(t, plain, of())
}

// Two checks begin at the same time, and neither sees half of it.
func TestSharedByTwoAtOnce(t *testing.T) {
	name, objects := fixture(t, 60)
	one := newBed(t)
	two := New(t)
	look := func(b *Bed) func() error {
		return func() error {
			namespace, err := b.shared(b.Context(), name, objects)
			if err != nil {
				return err
			}
			list, err := b.Clientset().CoreV1().ConfigMaps(namespace).List(b.Context(), metav1.ListOptions{})
			if err != nil {
				return err
			}
			if have := len(list.Items); have < len(objects) {
				return fmt.Errorf("%d of %d objects are there", have, len(objects))
			}
			return nil
		}
	}
	require.NoError(t, together(look(one), look(two), look(one), look(two)))
	complete(t, one, one.Shared(name, objects...), objects)
}

// Whoever made it was killed: at its beginning, in the middle, at its end.
func TestSharedIsCompleted(t *testing.T) {
	for _, at := range []int64{1, 10, 20} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			name, objects := fixture(t, 20)
			var killed context.CancelFunc
			n := made(t, func(i int64) {
				if i == at {
					killed()
				}
			})
			b := newBed(t)
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			killed = cancel
			_, err := b.shared(ctx, name, objects)
			require.ErrorIs(t, err, context.Canceled)

			namespace := b.Shared(name, objects...)
			complete(t, b, namespace, objects)
			before := n.Load()
			b.Shared(name, objects...)
			assert.Equal(t, before, n.Load(), "it still counts as not complete")
		})
	}
}

func TestSharedIsReadOnly(t *testing.T) {
	name, objects := fixture(t, 2)
	b := newBed(t)
	namespace := b.Shared(name, objects...)
	ctx, learner := b.Context(), b.Clientset().CoreV1()
	read, err := learner.ConfigMaps(namespace).Get(ctx, "c-00", metav1.GetOptions{})
	require.NoError(t, err)
	watching, err := learner.ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	watching.Stop()

	_, err = learner.ConfigMaps(namespace).Update(ctx, read, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsForbidden(err), "update: %v", err)
	_, err = learner.ConfigMaps(namespace).Patch(ctx, "c-00", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
	assert.True(t, apierrors.IsForbidden(err), "patch: %v", err)
	_, err = learner.ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{})
	assert.True(t, apierrors.IsForbidden(err), "create: %v", err)
	err = learner.ConfigMaps(namespace).Delete(ctx, "c-00", metav1.DeleteOptions{})
	assert.True(t, apierrors.IsForbidden(err), "delete: %v", err)
	err = learner.ConfigMaps(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "delete all: %v", err)
	_, err = learner.Pods(namespace).List(ctx, metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "another type: %v", err)
	complete(t, b, namespace, objects)
}

func TestSharedIsMadeAnewWhereItWasDeleted(t *testing.T) {
	name, objects := fixture(t, 2)
	b := newBed(t)
	namespace := b.Shared(name, objects...)
	old, err := b.Admin().CoreV1().Namespaces().Get(b.Context(), namespace, metav1.GetOptions{})
	require.NoError(t, err)
	require.NoError(t, b.Admin().CoreV1().Namespaces().Delete(b.Context(), namespace, metav1.DeleteOptions{}))

	assert.Equal(t, namespace, b.Shared(name, objects...))
	complete(t, b, namespace, objects)
	anew, err := b.Admin().CoreV1().Namespaces().Get(b.Context(), namespace, metav1.GetOptions{})
	require.NoError(t, err)
	assert.NotEqual(t, old.UID, anew.UID)
	assert.Nil(t, anew.DeletionTimestamp)
}

func TestSharedIsNobodyElses(t *testing.T) {
	name, objects := fixture(t, 1)
	b := newBed(t)
	namespace, err := sharedName(name, objects)
	require.NoError(t, err)
	_, err = b.Admin().CoreV1().Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = b.shared(b.Context(), name, objects)
	require.ErrorContains(t, err, "not the testbed's")
}

func TestSharedIsCollectedADayAfterItsLastUse(t *testing.T) {
	name, objects := fixture(t, 2)
	b := newBed(t)
	namespaces := b.Admin().CoreV1().Namespaces()
	namespace := b.Shared(name, objects...)
	unused := func(d time.Duration) *corev1.Namespace {
		t.Helper()
		ns, err := b.mark(b.Context(), namespace, map[string]string{heartbeatAnnotation: time.Now().Add(-d).UTC().Format(time.RFC3339)})
		require.NoError(t, err)
		return ns
	}

	unused(23 * time.Hour)
	b.collectStale(b.Context())
	ns, err := namespaces.Get(b.Context(), namespace, metav1.GetOptions{})
	require.NoError(t, err)
	require.Nil(t, ns.DeletionTimestamp, "it went before its time")

	// Somebody begins to use it just when it is about to be collected.
	seen := unused(25 * time.Hour)
	require.True(t, ours.Stale(seen, time.Now()))
	b.Shared(name, objects...)
	err = ours.RemoveNamespace(b.Context(), b.admin, b.clients, namespace,
		&metav1.Preconditions{UID: &seen.UID, ResourceVersion: &seen.ResourceVersion}, nil)
	require.True(t, apierrors.IsConflict(err), "%v", err)
	complete(t, b, namespace, objects)

	unused(25 * time.Hour)
	b.collectStale(b.Context())
	gone(t, b.Admin(), namespace)
}
