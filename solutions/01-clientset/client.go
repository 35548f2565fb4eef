package clientset

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Identity is who a client says it is, in the API server's audit log and in the
// managedFields of what it writes.
type Identity struct {
	Name    string // of the program, such as "shop-controller"
	Version string // such as "v1.2.3"
}

// Budget is how much a client may ask of the API server. Whatever goes beyond
// it waits in the client.
type Budget struct {
	// QPS is how many requests a second are let through in the long run. A
	// negative value means no limit, and then Burst means nothing.
	QPS float32
	// Burst is how many requests may go out at once after a quiet time.
	Burst int
}

// NewClient makes a client with a name and a budget. config belongs to the
// caller, who uses it elsewhere too, and stays as it is.
//
// The User-Agent of each request begins with the identity, as in
// "shop-controller/v1.2.3".
//
// All API groups of the client share the budget, and no other client has a part
// in it: what config itself says about limits, by QPS, Burst or RateLimiter, is
// not looked at. All the rest is as config has it, also what is not set there.
//
// An identity without name or version is an error. So is a budget that nobody
// chose: a QPS of 0, or a positive one without a Burst of at least 1.
func NewClient(config *rest.Config, id Identity, budget Budget) (kubernetes.Interface, error) {
	if id.Name == "" || id.Version == "" {
		return nil, fmt.Errorf("make a client: name %q and version %q must both be there", id.Name, id.Version)
	}
	if budget.QPS == 0 || budget.QPS > 0 && budget.Burst < 1 {
		return nil, fmt.Errorf("make the client of %s: QPS %g with burst %d is no budget", id.Name, budget.QPS, budget.Burst)
	}

	own := rest.CopyConfig(config)
	own.UserAgent = id.Name + "/" + id.Version
	own.QPS, own.Burst = budget.QPS, budget.Burst
	own.RateLimiter = nil // it would overrule both, and be somebody else's
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make the client of %s: %w", id.Name, err)
	}
	return client, nil
}
