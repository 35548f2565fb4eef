package main

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc" // a login that a kubeconfig may name
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// connection is the way to a cluster.
type connection struct {
	config  *rest.Config
	typed   kubernetes.Interface
	dynamic dynamic.Interface
	objects metadata.Interface
}

// requestTimeout bounds one request: a cluster behind a dead VPN swallows them.
const requestTimeout = 15 * time.Second

// connect reads the kubeconfig's current context, and nothing else: no loading
// rules, which might end in another cluster. It sends no request.
func connect(kubeconfig string) (*connection, error) {
	raw, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	c, err := clientcmd.NewDefaultClientConfig(*raw, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	c.AuthConfigPersister = nil // it would write into the user's own kubeconfig
	c.QPS = -1
	c.Timeout = requestTimeout
	c.UserAgent = "controllings-guest"
	c.WarningHandler = rest.NoWarnings{}
	to := &connection{config: c}
	var errs [3]error
	to.typed, errs[0] = kubernetes.NewForConfig(c)
	to.dynamic, errs[1] = dynamic.NewForConfig(c)
	to.objects, errs[2] = metadata.NewForConfig(c)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("use the kubeconfig: %w", err)
	}
	return to, nil
}

// hinted is an error with what to do next.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

func hintOf(err error) string {
	var h hinted
	switch {
	case errors.As(err, &h):
		return h.hint
	case apierrors.IsUnauthorized(err):
		return "the context's credentials have run out, or are of another cluster: log in again, and try it with kubectl --context=NAME get namespaces"
	case apierrors.IsForbidden(err):
		return "the context's user lacks a right; with CLUSTER=existing, lab cluster up lists what it needs"
	}
	return ""
}
