package testbed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const (
	learnerAccount = "learner"
	rbacFile       = "config/rbac.yaml"
)

// learner is the ServiceAccount's identity, as its own token would give it.
func learner(namespace string) rest.ImpersonationConfig {
	return rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + namespace + ":" + learnerAccount,
		Groups: []string{
			"system:serviceaccounts",
			"system:serviceaccounts:" + namespace,
			"system:authenticated",
		},
	}
}

// createAccounts makes the ServiceAccounts of the bed. "default" would come by
// itself a moment later, but until then no Pod could be made.
func (b *Bed) createAccounts(ctx context.Context) error {
	create := func(name string) func() error {
		return func() error {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
			_, err := b.clients.CoreV1().ServiceAccounts(b.namespace).Create(ctx, account, metav1.CreateOptions{})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("make ServiceAccount %s: %w", name, err)
			}
			return nil
		}
	}
	return together(create(learnerAccount), create("default"))
}

// grant gives the learner the rights of the chapter's config/rbac.yaml, and waits
// until they are in force: the API server learns of a new Role by a watch.
//
// A Role is bound in the bed's namespace. A ClusterRole is bound over the whole
// cluster under a name of the bed's own, and belongs to the namespace, so the
// garbage collector takes it along; only a check that is marked serial may have
// one. Without the file the learner may do nothing.
func (b *Bed) grant(ctx context.Context, owner *corev1.Namespace) error {
	roles, clusterRoles, err := readRBAC()
	if err != nil {
		return err
	}
	var jobs []func() error
	for _, role := range roles {
		jobs = append(jobs, func() error { return b.bind(ctx, owner.Name, role) })
	}
	for _, role := range clusterRoles {
		jobs = append(jobs, func() error { return b.bindCluster(ctx, owner, role) })
	}
	return together(jobs...)
}

func (b *Bed) bind(ctx context.Context, namespace string, role *rbacv1.Role) error {
	role.Namespace = namespace
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		Subjects:   b.subjects(),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}
	err := together(func() error {
		_, err := b.clients.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{})
		return err
	}, func() error {
		_, err := b.clients.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("bind Role %s: %w", role.Name, err)
	}
	return b.waitAllowed(ctx, namespace, role.Rules)
}

func (b *Bed) bindCluster(ctx context.Context, owner *corev1.Namespace, role *rbacv1.ClusterRole) error {
	role.Name = b.namespace + "-" + role.Name
	role.Labels = map[string]string{ownerLabel: ownerValue}
	role.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: owner.Name, UID: owner.UID}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name, Labels: role.Labels, OwnerReferences: role.OwnerReferences},
		Subjects:   b.subjects(),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
	}
	err := together(func() error {
		_, err := b.clients.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
		return err
	}, func() error {
		_, err := b.clients.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("bind ClusterRole %s: %w", role.Name, err)
	}
	return b.waitAllowed(ctx, "", role.Rules)
}

func (b *Bed) subjects() []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: learnerAccount, Namespace: b.namespace}}
}

// waitAllowed waits until the API server grants the first of the rules. One rule
// of a role is enough: role and binding each take effect as a whole.
func (b *Bed) waitAllowed(ctx context.Context, namespace string, rules []rbacv1.PolicyRule) error {
	if len(rules) == 0 {
		return nil
	}
	as := learner(b.namespace)
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: as.UserName, Groups: as.Groups,
	}}
	rule := rules[0]
	if len(rule.NonResourceURLs) > 0 {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: first(rule.Verbs), Path: first(rule.NonResourceURLs)}
	} else {
		kind, subresource, _ := strings.Cut(first(rule.Resources), "/")
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: first(rule.Verbs), Group: first(rule.APIGroups),
			Resource: kind, Subresource: subresource, Name: first(rule.ResourceNames),
		}
	}
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		answer, err := b.clients.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("ask for the learner's rights: %w", err)
		}
		if answer.Status.Allowed {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("the rights of %s don't come into force: %w", rbacFile, ctx.Err())
		}
	}
}

// readRBAC reads the chapter's config/rbac.yaml. Where there is none, nothing is
// granted.
func readRBAC() (roles []*rbacv1.Role, clusterRoles []*rbacv1.ClusterRole, err error) {
	text, err := os.ReadFile(rbacFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if roles, clusterRoles, err = parseRBAC(text); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", rbacFile, err)
	}
	return roles, clusterRoles, nil
}

// parseRBAC reads the Roles and ClusterRoles of a file. Bindings are the
// testbed's own, so the file has none.
func parseRBAC(text []byte) (roles []*rbacv1.Role, clusterRoles []*rbacv1.ClusterRole, err error) {
	docs := yamlutil.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return roles, clusterRoles, nil
		}
		if err != nil {
			return nil, nil, err
		}
		var head metav1.TypeMeta
		if err := yaml.Unmarshal(doc, &head); err != nil {
			return nil, nil, err
		}
		switch {
		case head == metav1.TypeMeta{}: // only comments
		case head.GroupVersionKind() == rbacv1.SchemeGroupVersion.WithKind("Role"):
			role := &rbacv1.Role{}
			if err := yaml.UnmarshalStrict(doc, role); err != nil {
				return nil, nil, err
			}
			roles = append(roles, role)
		case head.GroupVersionKind() == rbacv1.SchemeGroupVersion.WithKind("ClusterRole"):
			role := &rbacv1.ClusterRole{}
			if err := yaml.UnmarshalStrict(doc, role); err != nil {
				return nil, nil, err
			}
			clusterRoles = append(clusterRoles, role)
		default:
			return nil, nil, fmt.Errorf("%s %s: only Roles and ClusterRoles can stand here", head.APIVersion, head.Kind)
		}
	}
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}
