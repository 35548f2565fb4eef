// Package cluster is the seam between the runner and a Kubernetes cluster. A
// Provider brings one up and down and says where its kubeconfig is; what else a
// provider can do is an interface of its own (Logger, Kubectl, Controller), to be asked for
// with a type assertion.
//
// The one backend so far is "embedded": it builds bin/controlplane from source,
// once, and starts it. The package is light on purpose: no Kubernetes library
// is linked into the runner.
package cluster
