package testbed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

const (
	crdFiles = "config/crd/*.yaml"
	// crdHash tells which text a CustomResourceDefinition on the cluster was made
	// from, so that one request shows that nothing is to be done.
	crdHash = "testbed.example.com/hash"
)

var crdResource = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// installCRDs puts the chapter's own types on the cluster where they are absent or
// different, and waits until they are served. They stay: other beds use them too.
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
	sum := sha256.Sum256(text)
	hash := hex.EncodeToString(sum[:8])

	crds := client.Resource(crdResource)
	have, err := crds.Get(ctx, want.GetName(), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err != nil || have.GetAnnotations()[crdHash] != hash {
		annotations := want.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[crdHash] = hash
		want.SetAnnotations(annotations)
		// Two checks may do so at once: the same apply twice is one.
		have, err = crds.Apply(ctx, want.GetName(), want, metav1.ApplyOptions{FieldManager: "testbed", Force: true})
		if err != nil {
			return err
		}
	}
	return waitServed(ctx, client, have)
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
