package clientset_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
)

// expectBudget takes all that the client may ask at once, over two API groups, and
// looks at how much that was. Nothing is sent. The client must not have been used.
func expectBudget(b *testbed.Bed, which string, client kubernetes.Interface, budget clientset.Budget) {
	core, apps := client.CoreV1().RESTClient().GetRateLimiter(), client.AppsV1().RESTClient().GetRateLimiter()
	if core == nil || apps == nil {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("a client %s to be held to %g requests a second", which, budget.QPS),
			Seen:     "no limiter at all",
			See:      budgetPart,
		})
	}
	if core.QPS() != budget.QPS || apps.QPS() != budget.QPS {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("a client %s to be held to %g requests a second", which, budget.QPS),
			Seen:     fmt.Sprintf("%g requests a second for the core group, %g for the group apps", core.QPS(), apps.QPS()),
			See:      budgetPart,
		})
	}
	begin := time.Now()
	ofCore := take(core, 10*budget.Burst)
	ofApps := take(apps, 10*budget.Burst)
	filled := int(time.Since(begin).Seconds()*float64(budget.QPS)) + 1
	if ofCore < budget.Burst || ofCore > budget.Burst+filled {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("a client %s to let %d requests through at once, and then to wait", which, budget.Burst),
			Seen:     fmt.Sprintf("%d went through at once", ofCore),
			See:      budgetPart,
		})
	}
	if ofCore+ofApps > budget.Burst+filled {
		b.Fail(testbed.Fail{
			Expected: "one budget for all API groups of a client: when the core group has used it up, the group apps has to wait too",
			Seen:     fmt.Sprintf("%d requests of the core group at once, and then %d of the group apps", ofCore, ofApps),
			See:      budgetPart,
		})
	}
}

// expectOwnBucket uses up what one client may ask at once, and looks at another.
func expectOwnBucket(b *testbed.Bed, config *rest.Config) {
	one, other := newClient(b, config, budget), newClient(b, config, budget)
	take(one.CoreV1().RESTClient().GetRateLimiter(), 10*budget.Burst)
	if n := take(other.CoreV1().RESTClient().GetRateLimiter(), budget.Burst); n < budget.Burst {
		b.Fail(testbed.Fail{
			Expected: "a bucket for each client: what one has used up, another still has",
			Seen:     fmt.Sprintf("after another client had used up its budget, %d of %d requests went through at once", n, budget.Burst),
			See:      budgetPart,
		})
	}
}

// take counts how many requests a limiter lets through at once, up to limit.
func take(limiter flowcontrol.RateLimiter, limit int) int {
	n := 0
	for n < limit && limiter.TryAccept() {
		n++
	}
	return n
}

// expectNoLimit looks at a client whose budget is negative.
func expectNoLimit(b *testbed.Bed, config *rest.Config) {
	const enough = 10_000
	client := newClient(b, config, clientset.Budget{QPS: -1})
	let := enough
	if limiter := client.CoreV1().RESTClient().GetRateLimiter(); limiter != nil {
		let = take(limiter, enough)
	}
	if let < enough {
		b.Fail(testbed.Fail{
			Expected: "no limit for a budget with QPS -1: every request goes out at once",
			Seen:     fmt.Sprintf("a limiter that lets %d requests through at once", let),
			See:      budgetPart,
		})
	}
	_, err := client.CoreV1().Pods(b.Namespace()).List(b.Context(), metav1.ListOptions{Limit: 1})
	b.NoError(err, testbed.Fail{Expected: "a list of Pods through a client without a limit", See: budgetPart})
}
