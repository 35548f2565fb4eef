package testbed

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Config is a fresh client configuration for the learner's code: through the
// bed's proxy, as the ServiceAccount "learner", without a client-side rate limit
// (QPS -1). What the caller changes in it changes nobody else's.
func (b *Bed) Config() *rest.Config { return b.client("").Config() }

// Clientset is a client for the learner's code, made from Config.
func (b *Bed) Clientset() kubernetes.Interface {
	b.t.Helper()
	return b.client("").Clientset()
}

// Kubeconfig is the path of a kubeconfig file for the learner's code, with the
// same rights as Config and the bed's namespace as the default one.
func (b *Bed) Kubeconfig() string {
	b.t.Helper()
	return b.client("").Kubeconfig()
}

func (b *Bed) clientset(c *rest.Config) kubernetes.Interface {
	b.t.Helper()
	clients, err := kubernetes.NewForConfig(c)
	b.Must(err, "make a client")
	return clients
}

// Must ends the check if err is not nil: something failed that is no doing of
// the learner's, such as laying out the objects the check begins with. The
// verdict is "error" then.
func (b *Bed) Must(err error, what string) {
	b.t.Helper()
	if err != nil {
		b.giveUp(fmt.Errorf("%s: %w", what, err))
	}
}
