package testbed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/controllings/controllings/testbed/internal/ours"
)

const (
	readyAnnotation = "testbed.example.com/ready" // all objects were there once
	sharedReader    = "reader"
)

// Shared returns a namespace that holds the given objects, and that the learner's
// code can read and nobody writes. It is made once for a cluster and stays there,
// so that a check which needs a thousand objects pays for them only the first
// time. Checks with the same name and the same objects get the same namespace; it
// goes a day after its last use.
//
// The objects' own namespace is not looked at. The learner may get, list and watch
// these types there, whatever the chapter's config/rbac.yaml says of the bed's
// own. What else the cluster puts into every namespace is there as well, such as
// the ConfigMap kube-root-ca.crt.
func (b *Bed) Shared(name string, objects ...Object) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), Scale(setupTimeout))
	defer cancel()
	namespace, err := b.shared(ctx, name, objects)
	b.Must(err, "lay out the objects that checks share")
	return namespace
}

func (b *Bed) shared(ctx context.Context, name string, objects []Object) (string, error) {
	text, err := json.Marshal(objects)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	namespace := ours.SharedPrefix + name + "-" + hex.EncodeToString(sum[:])[:8]
	rules, err := readOnly(objects)
	if err != nil {
		return "", err
	}

	ns, err := b.clients.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && ns.DeletionTimestamp != nil {
		if ns, err = b.makeShared(ctx, namespace); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	if ns.Labels[ownerLabel] != ownerValue {
		return "", fmt.Errorf("the namespace %s is there already and is not the testbed's", namespace)
	}
	if ns.Annotations[readyAnnotation] == "" {
		// Whoever began may have been killed. Two at once do no harm: what one has
		// made already is there for the other.
		if err := b.fillShared(ctx, namespace, objects, rules); err != nil {
			return "", err
		}
	}
	if err := b.mark(ctx, namespace, map[string]string{heartbeatAnnotation: now(), readyAnnotation: "true"}); err != nil {
		return "", err
	}
	return namespace, b.waitAllowed(ctx, namespace, rules)
}

// makeShared makes the namespace. One that is just going away is waited for.
func (b *Bed) makeShared(ctx context.Context, name string) (*corev1.Namespace, error) {
	for {
		ns, err := b.clients.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      map[string]string{ownerLabel: ownerValue},
			Annotations: map[string]string{heartbeatAnnotation: now()},
		}}, metav1.CreateOptions{})
		if err == nil {
			return ns, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("make the namespace %s: %w", name, err)
		}
		ns, err = b.clients.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if err == nil && ns.DeletionTimestamp == nil {
			return ns, nil // somebody else was first
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
		timer := time.NewTimer(50 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("the namespace %s is being deleted and does not go: %w", name, ctx.Err())
		}
	}
}

func (b *Bed) fillShared(ctx context.Context, namespace string, objects []Object, rules []rbacv1.PolicyRule) error {
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: sharedReader, Namespace: namespace}, Rules: rules}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: sharedReader, Namespace: namespace},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "system:serviceaccounts"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: sharedReader},
	}
	return together(
		func() error { return b.createAll(ctx, namespace, objects, apierrors.IsAlreadyExists) },
		func() error {
			_, err := b.clients.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{})
			return ignoreExisting(err)
		},
		func() error {
			_, err := b.clients.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{})
			return ignoreExisting(err)
		},
	)
}

// mark sets annotations of a namespace.
func (b *Bed) mark(ctx context.Context, namespace string, annotations map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	_, err = b.clients.CoreV1().Namespaces().Patch(ctx, namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// readOnly are the rights to read the types of these objects.
func readOnly(objects []Object) ([]rbacv1.PolicyRule, error) {
	resources := map[string]map[string]bool{} // by group
	for _, o := range objects {
		_, gvr, err := typeOf(o)
		if err != nil {
			return nil, err
		}
		if resources[gvr.Group] == nil {
			resources[gvr.Group] = map[string]bool{}
		}
		resources[gvr.Group][gvr.Resource] = true
	}
	var rules []rbacv1.PolicyRule
	for _, group := range slices.Sorted(maps.Keys(resources)) {
		rules = append(rules, rbacv1.PolicyRule{
			APIGroups: []string{group},
			Resources: slices.Sorted(maps.Keys(resources[group])),
			Verbs:     []string{"get", "list", "watch"},
		})
	}
	return rules, nil
}

func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
