package ours

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// RemoveNamespace deletes a namespace without waiting for it to be gone. A
// finalizer whose controller was the learner's code would hold it for ever, so
// finalizers are taken off the objects of the given types. If the namespace is no
// longer as it was seen, it is left alone, and the error is a conflict; with nil
// it is removed as it is.
func RemoveNamespace(ctx context.Context, admin *rest.Config, clients kubernetes.Interface, name string, seen *metav1.Preconditions, types []schema.GroupVersionResource) error {
	background := metav1.DeletePropagationBackground
	err := clients.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: seen})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if len(types) == 0 {
		return nil
	}
	objects, err := metadata.NewForConfig(admin)
	if err != nil {
		return err
	}
	errs := make([]error, len(types))
	var wg sync.WaitGroup
	for i, gvr := range types {
		wg.Go(func() { errs[i] = removeFinalizers(ctx, objects, gvr, name) })
	}
	wg.Wait()
	return errors.Join(errs...)
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
			if BuiltIn(f) {
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

// BuiltIn reports whether a finalizer is one of Kubernetes' own, which its
// controllers remove themselves.
func BuiltIn(finalizer string) bool {
	domain, _, qualified := strings.Cut(finalizer, "/")
	if !qualified {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	}
	return domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
}

// Namespaced lists all types whose objects can hold a namespace back.
func Namespaced(d discovery.DiscoveryInterface) ([]schema.GroupVersionResource, error) {
	_, lists, err := d.ServerGroupsAndResources()
	if err != nil && len(lists) == 0 {
		return nil, fmt.Errorf("list the API's types: %w", err)
	}
	var all []schema.GroupVersionResource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			verbs := strings.Join(r.Verbs, " ")
			if r.Namespaced && strings.Contains(verbs, "list") && strings.Contains(verbs, "patch") && !strings.Contains(r.Name, "/") {
				all = append(all, gv.WithResource(r.Name))
			}
		}
	}
	return all, nil
}
