// Package cluster is the seam between the runner and a Kubernetes cluster. A
// Provider brings one up and down and says where its kubeconfig is; what else a
// provider can do is an interface of its own (Chooser, Logger, Kubectl, Controller), to be asked for
// with a type assertion.
//
// There are two backends. "embedded" builds bin/controlplane from source, once,
// and starts it. "existing" is a cluster that somebody else runs: the user names
// a kubeconfig and a context, bin/guest does the talking, and what was made there
// is taken away again. The package is light on purpose: no Kubernetes library is
// linked into the runner.
package cluster
