package clientset_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

const budgetPart = "README.md#name-and-budget"

// shop is slow enough that its bucket doesn't fill while it is being emptied.
var (
	shop   = clientset.Identity{Name: "shop-controller", Version: "v1.2.3"}
	budget = clientset.Budget{QPS: 2, Burst: 40}
)

func TestClientHasNameAndBudget(t *testing.T) {
	b := testbed.New(t)

	// A configuration as LoadConfig returns it, without a word on limits.
	config := b.Config()
	config.QPS = 0
	before := *config
	client := newClient(b, config, budget)
	if field, was, is := difference(before, *config); field != "" {
		b.Fail(testbed.Fail{
			Expected: "the caller's configuration as it was: it is not NewClient's to change",
			Seen:     fmt.Sprintf("the field %s is %v now, and was %v", field, is, was),
			See:      budgetPart,
		})
	}
	expectBudget(b, "from a configuration without limits", client, budget)
	expectOwnBucket(b, config)
	expectName(b, newClient(b, config, budget))
	for _, other := range []clientset.Budget{{QPS: 50, Burst: 5}, {QPS: 2.5, Burst: 40}} {
		expectBudget(b, fmt.Sprintf("of QPS %g and burst %d", other.QPS, other.Burst), newClient(b, config, other), other)
	}

	// What the configuration says of limits was said by somebody else.
	config.QPS, config.Burst = 7, 8
	expectBudget(b, "from a configuration with QPS 7 and burst 8", newClient(b, config, budget), budget)
	config.QPS, config.Burst = -1, 0
	expectBudget(b, "from a configuration with QPS -1", newClient(b, config, budget), budget)
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(3, 4)
	expectBudget(b, "from a configuration that brings a RateLimiter of 3 requests a second", newClient(b, config, budget), budget)

	expectNoLimit(b, config)
	expectErrors(b, config)
	expectTheRest(b)
}

func newClient(b *testbed.Bed, config *rest.Config, budget clientset.Budget) kubernetes.Interface {
	client, err := clientset.NewClient(config, shop, budget)
	f := testbed.Fail{
		Expected: fmt.Sprintf("a client of %s/%s with QPS %g and burst %d", shop.Name, shop.Version, budget.QPS, budget.Burst),
		Seen:     "no client, and no error",
		See:      budgetPart,
	}
	if err != nil {
		f.Seen = ""
		b.NoError(err, f)
	}
	if client == nil {
		b.Fail(f)
	}
	return client
}

// expectName looks at what the client says of itself on the wire.
func expectName(b *testbed.Bed, client kubernetes.Interface) {
	mark := b.Traffic().Mark()
	_, err := client.CoreV1().Pods(b.Namespace()).List(b.Context(), metav1.ListOptions{})
	b.NoError(err, testbed.Fail{Expected: "a list of Pods through the new client", See: budgetPart})
	_, err = client.AppsV1().Deployments(b.Namespace()).Get(b.Context(), "nosuch", metav1.GetOptions{})
	if err == nil {
		b.Fail(testbed.Fail{Expected: "no Deployment of the name nosuch", Seen: "no error", See: budgetPart})
	}
	requests := b.Traffic().Since(mark).Requests(proxy.Match{})
	if len(requests) < 2 {
		b.Fail(testbed.Fail{
			Expected: "two requests of the new client at the API server",
			Seen:     fmt.Sprintf("%d requests", len(requests)),
			See:      budgetPart,
		})
	}
	want := shop.Name + "/" + shop.Version
	for _, request := range requests {
		if rest, ok := strings.CutPrefix(request.UserAgent, want); !ok || rest != "" && rest[0] != ' ' && rest[0] != '/' {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("each request to say who sends it: a User-Agent that begins with %q", want),
				Seen:     fmt.Sprintf("User-Agent %q", request.UserAgent),
				See:      budgetPart,
			})
		}
	}
}

// expectErrors tries what is no identity and what is no budget.
func expectErrors(b *testbed.Bed, config *rest.Config) {
	for _, c := range []struct {
		what   string
		id     clientset.Identity
		budget clientset.Budget
	}{
		{"a budget with QPS 0, which nobody chose", shop, clientset.Budget{}},
		{"a budget with QPS 0 and a burst", shop, clientset.Budget{Burst: 10}},
		{"a budget with QPS 10 and no burst", shop, clientset.Budget{QPS: 10}},
		{"an identity without a version", clientset.Identity{Name: shop.Name}, budget},
		{"an identity without a name", clientset.Identity{Version: shop.Version}, budget},
	} {
		if _, err := clientset.NewClient(config, c.id, c.budget); err == nil {
			b.Fail(testbed.Fail{Expected: "an error for " + c.what, Seen: "no error", See: budgetPart})
		}
	}
}
