package testbed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/controllings/controllings/testbed/internal/ours"
)

func TestMoreNamespaces(t *testing.T) {
	var admin kubernetes.Interface
	var own string
	var more []string
	t.Run("check", func(t *testing.T) {
		b := newBed(t)
		ctx := b.Context()
		admin, own = b.Admin(), b.Namespace()
		more = []string{b.NewNamespace(), b.NewNamespace()}
		assert.NotEqual(t, more[0], more[1])
		assert.NotContains(t, more, own)

		for _, namespace := range more {
			ns, err := admin.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, ownerValue, ns.Labels[ownerLabel])
			assert.Equal(t, b.home, ns.Annotations[ours.HomeAnnotation])
			assert.False(t, ours.Stale(ns, time.Now()))

			// The learner has the same rights as at home, and no others.
			b.CreateIn(namespace, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "laid-out"}})
			_, err = b.Clientset().CoreV1().ConfigMaps(namespace).Get(ctx, "laid-out", metav1.GetOptions{})
			require.NoError(t, err)
			_, err = b.Clientset().CoreV1().ConfigMaps(namespace).Create(ctx, withFinalizer("by-the-learner"), metav1.CreateOptions{})
			require.NoError(t, err)
			_, err = b.Clientset().CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
			assert.True(t, apierrors.IsForbidden(err), "%v", err)
		}
		// Nor anywhere else.
		_, err := b.Clientset().CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		assert.True(t, apierrors.IsForbidden(err), "%v", err)

		// All of them are kept alive.
		assert.Equal(t, append([]string{own}, more...), b.allNamespaces())
		for _, namespace := range more {
			require.NoError(t, b.beat(ctx, namespace))
		}
	})
	gone(t, admin, own)
	for _, namespace := range more {
		gone(t, admin, namespace)
	}
}
