package clientset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// SetImage changes the image of one container of a Deployment and nothing
// else. The Deployment belongs to somebody else, who may be changing it at the
// same moment: the request names the one field that is ours, so nothing of
// theirs is in it that could be lost. A container that isn't there is an
// error, never a new container, also if its owner removes it between what
// SetImage reads and what it writes.
func SetImage(ctx context.Context, client kubernetes.Interface, namespace, deployment, container, image string) error {
	deployments := client.AppsV1().Deployments(namespace)
	current, err := deployments.Get(ctx, deployment, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("set an image in Deployment %q: %w", deployment, err)
	}
	index := slices.IndexFunc(current.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		return c.Name == container
	})
	if index < 0 {
		return fmt.Errorf("set an image in Deployment %q: it has no container %q", deployment, container)
	}

	// A JSON patch finds a list's entry by its place, so the patch first tests
	// that the place still is this container's: the server applies all of the
	// patch or nothing.
	path := fmt.Sprintf("/spec/template/spec/containers/%d", index)
	patch, err := json.Marshal([]map[string]string{
		{"op": "test", "path": path + "/name", "value": container},
		{"op": "replace", "path": path + "/image", "value": image},
	})
	if err != nil {
		return fmt.Errorf("encode the patch: %w", err)
	}
	if _, err := deployments.Patch(ctx, deployment, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("set the image of container %q in Deployment %q: %w", container, deployment, err)
	}
	return nil
}
