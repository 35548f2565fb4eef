package main

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

// needs is what a bed and its end do. The order is that of the answer.
var needs = []rbacv1.PolicyRule{
	// A bed is a namespace; its heartbeat is a patch.
	rule("", "namespaces", "get list create patch delete"),
	// The learner's identity, and the proxy that acts as it.
	rule("", "serviceaccounts", "create impersonate"),
	rule("", "groups", "impersonate"),
	// The learner's rights. Whoever grants some needs to have them, or these two verbs.
	rule(rbacv1.GroupName, "roles", "create escalate bind"),
	rule(rbacv1.GroupName, "rolebindings", "create"),
	rule(rbacv1.GroupName, "clusterroles", "list create delete escalate bind"),
	rule(rbacv1.GroupName, "clusterrolebindings", "list create delete"),
	rule("authorization.k8s.io", "subjectaccessreviews", "create"),
	// The chapters' own types.
	rule("apiextensions.k8s.io", "customresourcedefinitions", "get list create update delete"),
	// A check lays out objects of many kinds in its namespace, plays the one who
	// changes them, and takes off finalizers that nobody would remove any more.
	rule("*", "*", "get list watch create update patch delete"),
}

func rule(group, resource, verbs string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: strings.Fields(verbs)}
}

// missing returns the rights that the context's user lacks, as rules.
func missing(ctx context.Context, clients kubernetes.Interface) ([]rbacv1.PolicyRule, error) {
	// An administrator, the usual case, is one question.
	if all, err := may(ctx, clients, "*", "*", "*"); err != nil || all {
		return nil, err
	}
	var lacking []rbacv1.PolicyRule
	for _, n := range needs {
		var verbs []string
		for _, verb := range n.Verbs {
			ok, err := may(ctx, clients, verb, n.APIGroups[0], n.Resources[0])
			if err != nil {
				return nil, err
			}
			if !ok {
				verbs = append(verbs, verb)
			}
		}
		if len(verbs) > 0 {
			lacking = append(lacking, rule(n.APIGroups[0], n.Resources[0], strings.Join(verbs, " ")))
		}
	}
	return lacking, nil
}

// may asks whether the user may do so in every namespace. A review is answered,
// not kept: nothing is made on the cluster.
func may(ctx context.Context, clients kubernetes.Interface, verb, group, resource string) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource},
	}}
	answer, err := clients.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("ask the cluster for the user's rights: %w", err)
	}
	return answer.Status.Allowed, nil
}

// words says a rule as a person would: "create, delete namespaces".
func words(r rbacv1.PolicyRule) string {
	what := r.Resources[0]
	switch group := r.APIGroups[0]; {
	case group == "*":
		what = "objects of every kind"
	case group != "":
		what += "." + group
	}
	return strings.Join(r.Verbs, ", ") + " " + what
}

// clusterRole is a manifest that grants the rules.
func clusterRole(rules []rbacv1.PolicyRule) (string, error) {
	role := rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: "controllings"},
		Rules:      rules,
	}
	text, err := yaml.Marshal(role)
	return string(text), err
}
