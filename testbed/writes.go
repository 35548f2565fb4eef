package testbed

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/controllings/controllings/testbed/proxy"
)

// resource is a type of objects that were written in a namespace.
type resource struct {
	schema.GroupVersionResource
	namespace string
}

// writes remembers which types a client has written, so that the end of the bed
// knows where finalizers may be.
type writes struct {
	mu   sync.Mutex
	seen map[resource]bool
}

// watch returns a copy of c whose clients' writes are remembered.
func (w *writes) watch(c *rest.Config) *rest.Config {
	c = rest.CopyConfig(c)
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return wrapped{next, func(r *http.Request) *http.Request {
			w.note(proxy.Describe(r))
			return r
		}}
	})
	return c
}

func (w *writes) note(r proxy.Request) {
	res, ok := writtenBy(r)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[resource]bool{}
	}
	w.seen[res] = true
}

func (w *writes) list() []resource {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.seen))
}

// writtenIn lists the types that the record's writes are about.
func writtenIn(t *proxy.Traffic) []resource {
	var w writes
	for _, r := range t.Requests(proxy.Match{Verb: proxy.Write}) {
		w.note(r)
	}
	return w.list()
}

// writtenBy tells the type that a request writes, if it is one that can leave an
// object with a finalizer in a namespace.
func writtenBy(r proxy.Request) (resource, bool) {
	switch r.Verb {
	case "create", "update", "patch":
	default:
		return resource{}, false
	}
	if r.Namespace == "" || r.Resource == "namespaces" || strings.HasSuffix(r.Resource, "reviews") {
		return resource{}, false
	}
	return resource{
		GroupVersionResource: schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource},
		namespace:            r.Namespace,
	}, true
}

// wrapped is a transport that has a look at each request first, and may send
// another one in its place.
type wrapped struct {
	http.RoundTripper
	look func(*http.Request) *http.Request
}

func (w wrapped) RoundTrip(r *http.Request) (*http.Response, error) {
	return w.RoundTripper.RoundTrip(w.look(r))
}

// WrappedRoundTripper lets apimachinery's net package find what is inside.
func (w wrapped) WrappedRoundTripper() http.RoundTripper { return w.RoundTripper }
