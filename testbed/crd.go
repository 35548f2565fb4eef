package testbed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/controllings/controllings/testbed/internal/ours"
)

const (
	crdFiles = "config/crd/*.yaml"
	// crdHash tells which text a CustomResourceDefinition on the cluster was made
	// from, so that one request shows that nothing is to be done.
	crdHash = "testbed.example.com/hash"

	fieldManager = "testbed"
)

var crdResource = ours.CRDs

// installCRDs puts the chapter's own types on the cluster where they are absent or
// different, and waits until they are served. They stay: other beds use them too.
// A type of that name that the course did not make is left alone, and the check
// ends with an error.
func (b *Bed) installCRDs(ctx context.Context) error {
	files, err := filepath.Glob(crdFiles)
	if err != nil || len(files) == 0 {
		return err
	}
	client, err := dynamic.NewForConfig(b.admin)
	if err != nil {
		return err
	}
	var jobs []func() error
	for _, file := range files {
		jobs = append(jobs, func() error {
			if err := installCRD(ctx, client, file); err != nil {
				return fmt.Errorf("install %s: %w", file, err)
			}
			return nil
		})
	}
	return together(jobs...)
}

func installCRD(ctx context.Context, client dynamic.Interface, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	want := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(text, &want.Object); err != nil {
		return err
	}
	if want.GroupVersionKind() != crdResource.GroupVersion().WithKind("CustomResourceDefinition") {
		return fmt.Errorf("%s is no CustomResourceDefinition", want.GroupVersionKind())
	}
	if !ours.CRDName(want.GetName()) {
		return fmt.Errorf("%s is not in %s, where the course's own types are", want.GetName(), "*"+ours.GroupSuffix)
	}
	sum := sha256.Sum256(text)
	hash := hex.EncodeToString(sum[:8])
	want.SetLabels(with(want.GetLabels(), ownerLabel, ownerValue))
	want.SetAnnotations(with(want.GetAnnotations(), crdHash, hash))

	crds := client.Resource(crdResource)
	have, err := placeCRD(ctx, crds, want, hash)
	for pause := 5 * time.Millisecond; apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err); pause = min(2*pause, 200*time.Millisecond) {
		// Another check was quicker, or the old one is on its way out.
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			have, err = placeCRD(ctx, crds, want, hash)
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
	if err != nil {
		return err
	}
	return waitServed(ctx, client, have)
}

// placeCRD makes or replaces the type, if need be. What it replaces is what it
// has looked at, never somebody else's: by the resourceVersion a change in between
// becomes a conflict.
func placeCRD(ctx context.Context, crds dynamic.ResourceInterface, want *unstructured.Unstructured, hash string) (*unstructured.Unstructured, error) {
	have, err := crds.Get(ctx, want.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return crds.Create(ctx, want, metav1.CreateOptions{FieldManager: fieldManager})
	case err != nil:
		return nil, err
	case !ours.Labelled(have):
		return nil, fmt.Errorf("there is a type %s on the cluster that the course did not make, so it stays as it is: delete it (kubectl delete crd %[1]s) if nobody needs it, or use another cluster", want.GetName())
	case have.GetDeletionTimestamp() != nil:
		return nil, apierrors.NewConflict(crdResource.GroupResource(), want.GetName(), errors.New("it is being deleted"))
	case have.GetAnnotations()[crdHash] == hash:
		return have, nil
	}
	next := want.DeepCopy()
	next.SetResourceVersion(have.GetResourceVersion())
	next.SetFinalizers(have.GetFinalizers())
	return crds.Update(ctx, next, metav1.UpdateOptions{FieldManager: fieldManager})
}

// with returns a copy of a map with one more entry.
func with(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// waitServed waits until objects of the type can be listed.
func waitServed(ctx context.Context, client dynamic.Interface, crd *unstructured.Unstructured) error {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if served, _ := version["served"].(bool); !served {
			continue
		}
		name, _ := version["name"].(string)
		gvr := schema.GroupVersionResource{Group: group, Version: name, Resource: plural}
		for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
			_, err := client.Resource(gvr).List(ctx, metav1.ListOptions{Limit: 1})
			if err == nil {
				break
			}
			timer := time.NewTimer(pause)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return fmt.Errorf("%s is not served: %w", gvr, err)
			}
		}
	}
	return nil
}
