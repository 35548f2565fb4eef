package ours

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStale(t *testing.T) {
	now := time.Now()
	bed := func(change func(*corev1.Namespace)) *corev1.Namespace {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "bed-abcde", Labels: map[string]string{Label: Value},
			CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
			Annotations:       map[string]string{HeartbeatAnnotation: now.Add(-time.Hour).UTC().Format(time.RFC3339)},
		}}
		change(ns)
		return ns
	}
	for name, tc := range map[string]struct {
		change func(*corev1.Namespace)
		want   bool
	}{
		"an old heartbeat":       {func(*corev1.Namespace) {}, true},
		"a new heartbeat":        {func(ns *corev1.Namespace) { ns.Annotations[HeartbeatAnnotation] = now.UTC().Format(time.RFC3339) }, false},
		"none, an old namespace": {func(ns *corev1.Namespace) { ns.Annotations = nil }, true},
		"none, a new namespace":  {func(ns *corev1.Namespace) { ns.Annotations, ns.CreationTimestamp = nil, metav1.NewTime(now) }, false},
		"not ours":               {func(ns *corev1.Namespace) { ns.Labels = nil }, false},
		"another's":              {func(ns *corev1.Namespace) { ns.Labels[Label] = "helm" }, false},
		"another name":           {func(ns *corev1.Namespace) { ns.Name = "default" }, false},
		"being deleted just now": {func(ns *corev1.Namespace) { ns.DeletionTimestamp = &metav1.Time{Time: now} }, false},
		"being deleted for long": {func(ns *corev1.Namespace) { ns.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Hour)} }, true},
		"a heartbeat to come":    {func(ns *corev1.Namespace) { ns.Annotations[HeartbeatAnnotation] = "2999-01-01T00:00:00Z" }, false},
		"shared, of an hour ago": {func(ns *corev1.Namespace) { ns.Name = "shared-pods-1" }, false},
		"shared, of two days ago": {func(ns *corev1.Namespace) {
			ns.Name, ns.Annotations[HeartbeatAnnotation] = "shared-pods-1", now.Add(-48*time.Hour).UTC().Format(time.RFC3339)
		}, true},
		"shared, on its way out": {func(ns *corev1.Namespace) {
			ns.Name, ns.DeletionTimestamp = "shared-pods-1", &metav1.Time{Time: now.Add(-time.Hour)}
			ns.Annotations = nil
		}, true},
		"a heartbeat of no format": {func(ns *corev1.Namespace) { ns.Annotations[HeartbeatAnnotation] = "x" }, true},
	} {
		assert.Equal(t, tc.want, Stale(bed(tc.change), now), name)
	}
}

func TestBuiltInFinalizers(t *testing.T) {
	for f, want := range map[string]bool{
		"foregroundDeletion": true, "orphan": true, "kubernetes.io/pvc-protection": true,
		"batch.kubernetes.io/job-tracking": true, "example.com/cleanup": false, "cleanup": false,
		"notkubernetes.io/x": false,
	} {
		assert.Equal(t, want, BuiltIn(f), f)
	}
}

func TestCRDName(t *testing.T) {
	for name, want := range map[string]bool{
		"widgets.example.com": true, "widgets.shop.example.com": true,
		"widgets.example.org": false, "widgets.notexample.com": false, "example.com": false, "": false,
	} {
		assert.Equal(t, want, CRDName(name), name)
	}
}

func TestHome(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	home := func(dir string) string {
		h, err := Home(dir)
		require.NoError(t, err)
		require.Len(t, h, 16)
		return h
	}
	assert.Equal(t, home(dir), home(link), "one folder by two names")
	assert.Equal(t, home(dir), home(dir+"/x/.."))
	assert.NotEqual(t, home(dir), home(t.TempDir()))
	t.Chdir(dir)
	assert.Equal(t, home(dir), home("."))
}
