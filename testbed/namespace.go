package testbed

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/metadata"
)

// How a bed's namespace is known. Whatever lacks the label is never touched.
const (
	ownerLabel          = "app.kubernetes.io/managed-by"
	ownerValue          = "controllings-testbed"
	heartbeatAnnotation = "testbed.example.com/heartbeat" // RFC 3339, by the clock of the check's machine
	checkAnnotation     = "testbed.example.com/check"     // the test's name
	namespacePrefix     = "bed-"

	heartbeatPeriod = 30 * time.Second
)

func (b *Bed) createNamespace(ctx context.Context) (*corev1.Namespace, error) {
	for try := 0; ; try++ {
		ns, err := b.clients.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name:   namespacePrefix + rand.String(5),
			Labels: map[string]string{ownerLabel: ownerValue},
			Annotations: map[string]string{
				heartbeatAnnotation: now(),
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
	ticker := time.NewTicker(heartbeatPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = b.beat(ctx)
		}
	}
}

func (b *Bed) beat(ctx context.Context) error {
	_, err := b.mark(ctx, b.namespace, map[string]string{heartbeatAnnotation: now()})
	return err
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// removeNamespace deletes the bed's namespace without waiting for it to be gone.
// A finalizer whose controller was the learner's code would hold it for ever, so
// finalizers are taken off whatever was written in it.
func (b *Bed) removeNamespace(ctx context.Context, written []resource) error {
	return removeNamespace(ctx, b, b.namespace, nil, written)
}

// removeNamespace leaves the namespace alone, and returns a conflict, if it is not
// as it was seen; nil removes it as it is.
func removeNamespace(ctx context.Context, b *Bed, name string, seen *metav1.Preconditions, resources []resource) error {
	background := metav1.DeletePropagationBackground
	err := b.clients.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: seen})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if len(resources) == 0 {
		return nil
	}
	objects, err := metadata.NewForConfig(b.admin)
	if err != nil {
		return err
	}
	var jobs []func() error
	for _, r := range resources {
		if r.namespace != "" && r.namespace != name {
			continue
		}
		jobs = append(jobs, func() error { return removeFinalizers(ctx, objects, r.GroupVersionResource, name) })
	}
	return together(jobs...)
}

func removeFinalizers(ctx context.Context, objects metadata.Interface, gvr schema.GroupVersionResource, namespace string) error {
	client := objects.Resource(gvr).Namespace(namespace)
	list, err := client.List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return nil // the type is gone, or is one that can't be listed, such as a review
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", gvr.Resource, err)
	}
	for _, o := range list.Items {
		keep := []string{}
		for _, f := range o.Finalizers {
			if builtIn(f) {
				keep = append(keep, f)
			}
		}
		if len(keep) == len(o.Finalizers) {
			continue
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": keep}})
		if err != nil {
			return err
		}
		_, err = client.Patch(ctx, o.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("remove the finalizers of %s %s: %w", gvr.Resource, o.Name, err)
		}
	}
	return nil
}

// builtIn reports whether a finalizer is one of Kubernetes' own, which its
// controllers remove themselves.
func builtIn(finalizer string) bool {
	domain, _, qualified := strings.Cut(finalizer, "/")
	if !qualified {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	}
	return domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
}
