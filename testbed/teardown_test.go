package testbed

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/controllings/controllings/testbed/internal/ours"
)

// gone waits until the namespace is.
func gone(t *testing.T, c kubernetes.Interface, namespace string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := c.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, Scale(30*time.Second), 50*time.Millisecond, "namespace %s is still there", namespace)
}

func withFinalizer(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"example.com/never"}}}
}

func TestABedLeavesNothing(t *testing.T) {
	var admin kubernetes.Interface
	var namespace string
	t.Run("check", func(t *testing.T) {
		b := newBed(t)
		admin, namespace = b.Admin(), b.Namespace()
		ns, err := b.getNamespace(b.Context())
		require.NoError(t, err)
		assert.Equal(t, ownerValue, ns.Labels[ownerLabel])
		assert.Equal(t, t.Name(), ns.Annotations[checkAnnotation])
		assert.False(t, ours.Stale(ns, time.Now()))

		maps := b.Clientset().CoreV1().ConfigMaps(namespace)
		_, err = maps.Create(b.Context(), withFinalizer("by-the-learner"), metav1.CreateOptions{})
		require.NoError(t, err)
		b.Create(withFinalizer("by-the-check"))
		// Deleted, but held back.
		require.NoError(t, maps.Delete(b.Context(), "by-the-learner", metav1.DeleteOptions{}))
		_, err = maps.Get(b.Context(), "by-the-learner", metav1.GetOptions{})
		require.NoError(t, err)
	})
	gone(t, admin, namespace)
}

func TestWhatTheForeignActorHoldsIsFreedToo(t *testing.T) {
	var admin kubernetes.Interface
	var namespace string
	t.Run("check", func(t *testing.T) {
		b := newBed(t)
		admin, namespace = b.Admin(), b.Namespace()
		_, err := b.Foreign().CoreV1().Secrets(namespace).Create(b.Context(),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Finalizers: []string{"example.com/never"}}}, metav1.CreateOptions{})
		require.NoError(t, err)
	})
	gone(t, admin, namespace)
}

func TestStaleBedsAreCollected(t *testing.T) {
	b := newBed(t)
	ctx, namespaces := b.Context(), b.Admin().CoreV1().Namespaces()
	old := map[string]string{heartbeatAnnotation: time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)}
	labels := map[string]string{ownerLabel: ownerValue}
	stale, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bed-stale-", Labels: labels, Annotations: old}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = b.Admin().CoreV1().ConfigMaps(stale.Name).Create(ctx, withFinalizer("held"), metav1.CreateOptions{})
	require.NoError(t, err)
	others, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bed-others-", Annotations: old}}, metav1.CreateOptions{})
	require.NoError(t, err)
	defer func() { _ = namespaces.Delete(context.Background(), others.Name, metav1.DeleteOptions{}) }()

	b.collectStale(ctx)
	gone(t, b.Admin(), stale.Name)
	still, err := namespaces.Get(ctx, others.Name, metav1.GetOptions{})
	require.NoError(t, err)
	assert.Nil(t, still.DeletionTimestamp, "a namespace without the label was touched")
	mine, err := b.getNamespace(ctx)
	require.NoError(t, err)
	assert.Nil(t, mine.DeletionTimestamp)
}

func TestHeartbeat(t *testing.T) {
	b := newBed(t)
	old := `{"metadata":{"annotations":{"` + heartbeatAnnotation + `":"2001-01-01T00:00:00Z"}}}`
	_, err := b.Admin().CoreV1().Namespaces().Patch(b.Context(), b.Namespace(), "application/merge-patch+json", []byte(old), metav1.PatchOptions{})
	require.NoError(t, err)
	require.NoError(t, b.beat(b.Context(), b.Namespace()))
	ns, err := b.getNamespace(b.Context())
	require.NoError(t, err)
	assert.False(t, ours.Stale(ns, time.Now()))
}

func TestClusterRole(t *testing.T) {
	t.Chdir("testdata/cluster")
	var admin kubernetes.Interface
	var role string
	t.Run("check", func(t *testing.T) {
		b := New(t)
		admin, role = b.Admin(), b.Namespace()+"-nodes"
		list, err := b.Clientset().CoreV1().Nodes().List(b.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.NotEmpty(t, list.Items)
		_, err = b.Clientset().CoreV1().ConfigMaps(b.Namespace()).List(b.Context(), metav1.ListOptions{})
		assert.True(t, apierrors.IsForbidden(err), "%v", err)
	})
	require.Eventually(t, func() bool {
		_, err := admin.RbacV1().ClusterRoles().Get(t.Context(), role, metav1.GetOptions{})
		_, err2 := admin.RbacV1().ClusterRoleBindings().Get(t.Context(), role, metav1.GetOptions{})
		return apierrors.IsNotFound(err) && apierrors.IsNotFound(err2)
	}, Scale(60*time.Second), 100*time.Millisecond, "the ClusterRole outlives its bed")
}

func TestCustomResources(t *testing.T) {
	t.Chdir("testdata/crd")
	var admin kubernetes.Interface
	var namespace string
	var crds dynamic.ResourceInterface
	const name = "beds.testbed.example.com"
	t.Cleanup(func() { _ = crds.Delete(context.Background(), name, metav1.DeleteOptions{}) })
	for _, round := range []string{"absent", "there", "different"} {
		t.Run(round, func(t *testing.T) {
			if round == "different" {
				patch := []byte(`{"metadata":{"annotations":{"` + crdHash + `":"another"}},"spec":{"names":{"shortNames":["bb"]}}}`)
				_, err := crds.Patch(t.Context(), name, "application/merge-patch+json", patch, metav1.PatchOptions{})
				require.NoError(t, err)
			}
			b := New(t)
			admin, namespace = b.Admin(), b.Namespace()
			crds = dynamic.NewForConfigOrDie(b.AdminConfig()).Resource(crdResource)
			crd, err := crds.Get(t.Context(), name, metav1.GetOptions{})
			require.NoError(t, err)
			short, _, _ := unstructured.NestedStringSlice(crd.Object, "spec", "names", "shortNames")
			assert.Equal(t, []string{"be"}, short)

			beds := dynamic.NewForConfigOrDie(b.Config()).Resource(schema.GroupVersionResource{Group: "testbed.example.com", Version: "v1", Resource: "beds"})
			_, err = beds.Namespace(namespace).Create(b.Context(), &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "testbed.example.com/v1", "kind": "Bed",
				"metadata": map[string]any{"name": "b", "finalizers": []any{"example.com/never"}},
			}}, metav1.CreateOptions{})
			require.NoError(t, err)
		})
		gone(t, admin, namespace)
	}
}

func TestATypeOfSomebodyElseIsLeftAlone(t *testing.T) {
	b := newBed(t)
	crds := dynamic.NewForConfigOrDie(b.AdminConfig()).Resource(crdResource)
	text, err := os.ReadFile("../foreign/config/crd/gadgets.yaml")
	require.NoError(t, err)
	gadgets := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(text, &gadgets.Object))
	theirs, err := crds.Create(b.Context(), gadgets, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = crds.Delete(context.Background(), theirs.GetName(), metav1.DeleteOptions{}) })

	t.Chdir("../foreign")
	err = b.installCRDs(b.Context())
	require.ErrorContains(t, err, "a type gadgets.testbed.example.com on the cluster that the course did not make")
	after, err := crds.Get(b.Context(), theirs.GetName(), metav1.GetOptions{})
	require.NoError(t, err)
	assert.Empty(t, after.GetAnnotations()[crdHash])
	assert.Equal(t, theirs.GetGeneration(), after.GetGeneration())
	assert.Equal(t, theirs.GetUID(), after.GetUID())
}

func TestATypeOutsideTheCoursesGroupsIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crd.yaml")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gadgets.example.org}\n"), 0o600))
	require.ErrorContains(t, installCRD(t.Context(), nil, file), "gadgets.example.org is not in *.example.com")
}

// waitAllowed believes one rule for the whole of a role.
func TestRightsAreInForceAtOnce(t *testing.T) {
	t.Chdir("testdata/chapter")
	for range 10 {
		t.Run("bed", func(t *testing.T) {
			b := New(t)
			_, err := b.Clientset().CoreV1().Pods(b.Namespace()).List(b.Context(), metav1.ListOptions{})
			require.NoError(t, err)
		})
	}
}

func TestNamespacedResources(t *testing.T) {
	b := newBed(t)
	all, err := ours.Namespaced(b.clients.Discovery())
	require.NoError(t, err)
	var names []string
	for _, r := range all {
		names = append(names, r.Group+"/"+r.Resource)
	}
	for _, want := range []string{"/configmaps", "/pods", "apps/deployments", rbacv1.GroupName + "/roles"} {
		assert.True(t, slices.Contains(names, want), want)
	}
	for _, n := range names {
		assert.False(t, strings.HasSuffix(n, "/nodes") || strings.Contains(n, "reviews"), n)
	}
}

// A bed that has gone leaves no goroutine: a check may look for the learner's.
func TestABedLeavesNoGoroutine(t *testing.T) {
	t.Run("first", func(t *testing.T) { newBed(t) }) // opens the admin's connection, which stays
	before := goleak.IgnoreCurrent()
	t.Run("second", func(t *testing.T) {
		b := newBed(t)
		c := b.Clientset()
		_, err := c.CoreV1().Pods(b.Namespace()).List(b.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		watching, err := c.CoreV1().Pods(b.Namespace()).Watch(b.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		t.Cleanup(watching.Stop)
	})
	goleak.VerifyNone(t, before)
}
