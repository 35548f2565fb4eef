package main

import (
	"context"
	"fmt"
	"sort"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/controllings/controllings/testbed/internal/ours"
)

// oldest is the first version whose API server does by itself what the lessons
// show: since 1.34 it streams an informer's first list.
const oldest = "v1.34.0"

// checked is the answer of check.
type checked struct {
	// Kubernetes is the server's version.
	Kubernetes string `json:"kubernetes"`
	// Old says that it is older than the lessons are about.
	Old string `json:"old,omitempty"`
	// Missing rights, in words; Role is a manifest that grants all that is needed.
	Missing []string `json:"missing,omitempty"`
	Role    string   `json:"role,omitempty"`
	// Foreign are types of the course's names that somebody else made.
	Foreign []string `json:"foreign,omitempty"`
}

// check finds out whether the course can work on the cluster. It makes nothing.
func check(ctx context.Context, kubeconfig string, crds []string) (*checked, error) {
	to, err := connect(kubeconfig)
	if err != nil {
		return nil, err
	}
	info, err := to.typed.Discovery().ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("ask the API server for its version: %w", err)
	}
	answer := &checked{Kubernetes: info.GitVersion}
	if v, err := version.ParseGeneric(info.GitVersion); err == nil && v.LessThan(version.MustParseGeneric(oldest)) {
		answer.Old = oldest
	}
	lacking, err := missing(ctx, to.typed)
	if err != nil {
		return nil, err
	}
	if len(lacking) > 0 {
		for _, r := range lacking {
			answer.Missing = append(answer.Missing, words(r))
		}
		answer.Role, err = clusterRole(needs)
		return answer, err
	}
	for _, name := range crds {
		crd, err := to.objects.Resource(ours.CRDs).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("look for the type %s: %w", name, err)
		case !ours.Labelled(crd):
			answer.Foreign = append(answer.Foreign, name)
		}
	}
	sort.Strings(answer.Foreign)
	return answer, nil
}
