package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// kubeconfig of the course's cluster, which these tests only look at; what guest
// takes away is tested by the runner, on a cluster that nobody else is on.
func kubeconfig(t *testing.T) string {
	t.Helper()
	path := os.Getenv("LAB_KUBECONFIG")
	if path == "" {
		home := os.Getenv("LAB_HOME")
		if home == "" {
			home = "../../../.lab"
		}
		path = filepath.Join(home, "kubeconfig")
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal("no cluster: run make cluster-up")
	}
	return path
}

func TestCheck(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"check", "--kubeconfig", kubeconfig(t), "none.example.com"}, &out, nil))
	var answer checked
	require.NoError(t, json.Unmarshal(out.Bytes(), &answer))
	assert.Regexp(t, `^v1\.\d+\.\d+`, answer.Kubernetes)
	assert.Empty(t, answer.Missing)
	assert.Empty(t, answer.Old)
	assert.Empty(t, answer.Foreign)
}

func TestWhoMayNothingLacksAllRights(t *testing.T) {
	to, err := connect(kubeconfig(t))
	require.NoError(t, err)
	to.config.Impersonate = rest.ImpersonationConfig{UserName: "nobody", Groups: []string{"system:authenticated"}}
	nobody, err := kubernetes.NewForConfig(to.config)
	require.NoError(t, err)
	lacking, err := missing(t.Context(), nobody)
	require.NoError(t, err)
	assert.Equal(t, needs, lacking)
	lacking, err = missing(t.Context(), to.typed)
	require.NoError(t, err)
	assert.Empty(t, lacking)
}

func TestRightsInWords(t *testing.T) {
	assert.Equal(t, "get, list pods", words(rule("", "pods", "get list")))
	assert.Equal(t, "bind roles.rbac.authorization.k8s.io", words(rule(rbacv1.GroupName, "roles", "bind")))
	assert.Equal(t, "get objects of every kind", words(rule("*", "*", "get")))
	text, err := clusterRole(needs)
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &role))
	assert.Equal(t, needs, role.Rules)
}

func TestServed(t *testing.T) {
	var crd map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(`spec: {group: a.example.com, names: {plural: bs}, versions: [{name: v1alpha1}, {name: v1, served: true}]}`), &crd))
	gvr, ok := served(crd)
	assert.True(t, ok)
	assert.Equal(t, schema.GroupVersionResource{Group: "a.example.com", Version: "v1", Resource: "bs"}, gvr)
	_, ok = served(map[string]any{})
	assert.False(t, ok)
}

func TestHints(t *testing.T) {
	assert.Empty(t, hintOf(errors.New("x")))
	assert.Equal(t, "do so", hintOf(fmt.Errorf("wrapped: %w", hinted{errors.New("x"), "do so"})))
	assert.Contains(t, hintOf(fmt.Errorf("ask: %w", apierrors.NewUnauthorized("x"))), "log in again")
	assert.Contains(t, hintOf(apierrors.NewForbidden(schema.GroupResource{}, "x", nil)), "lacks a right")
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"no --kubeconfig":       {"check"},
		`no command "frob"`:     {"frob", "--kubeconfig", "x"},
		"no --home":             {"clean", "--kubeconfig", "x"},
		"read the kubeconfig":   {"check", "--kubeconfig", filepath.Join(t.TempDir(), "none")},
		"flag provided but not": {"check", "--frob"},
	} {
		assert.ErrorContains(t, run(t.Context(), args, nil, nil), want)
	}
}
