package testbed

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/controllings/controllings/testbed/internal/ours"
)

// How a bed's namespace is known. Whatever lacks the label is never touched.
const (
	ownerLabel          = ours.Label
	ownerValue          = ours.Value
	heartbeatAnnotation = ours.HeartbeatAnnotation
	checkAnnotation     = "testbed.example.com/check" // the test's name
)

func (b *Bed) createNamespace(ctx context.Context) (*corev1.Namespace, error) {
	for try := 0; ; try++ {
		ns, err := b.clients.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name:   ours.NamespacePrefix + rand.String(5),
			Labels: map[string]string{ownerLabel: ownerValue},
			Annotations: map[string]string{
				heartbeatAnnotation: now(),
				ours.HomeAnnotation: b.home,
				checkAnnotation:     b.t.Name(),
			},
		}}, metav1.CreateOptions{})
		switch {
		case err == nil:
			return ns, nil
		case apierrors.IsAlreadyExists(err) && try < 5: // names are short, to be read
		case utilnet.IsConnectionRefused(err):
			return nil, fmt.Errorf("%s\n(%w)", noCluster, err)
		default:
			return nil, fmt.Errorf("make the bed's namespace: %w", err)
		}
	}
}

func (b *Bed) getNamespace(ctx context.Context) (*corev1.Namespace, error) {
	return b.clients.CoreV1().Namespaces().Get(ctx, b.namespace, metav1.GetOptions{})
}

// keepAlive renews the heartbeat while the bed is in use. A renewal that fails is
// made up for by the next: only several minutes without one mark a bed as stale.
func (b *Bed) keepAlive(ctx context.Context) {
	ticker := time.NewTicker(ours.HeartbeatPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, namespace := range b.allNamespaces() {
				_ = b.beat(ctx, namespace)
			}
		}
	}
}

func (b *Bed) beat(ctx context.Context, namespace string) error {
	_, err := b.mark(ctx, namespace, map[string]string{heartbeatAnnotation: now()})
	return err
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// removeNamespace deletes a namespace of the bed's without waiting for it to be
// gone. Finalizers are taken off whatever was written in it.
func (b *Bed) removeNamespace(ctx context.Context, namespace string, written []resource) error {
	var types []schema.GroupVersionResource
	for _, r := range written {
		if r.namespace == namespace {
			types = append(types, r.GroupVersionResource)
		}
	}
	if err := ours.RemoveNamespace(ctx, b.admin, b.clients, namespace, nil, types); err != nil {
		return fmt.Errorf("remove namespace %s: %w", namespace, err)
	}
	return nil
}
