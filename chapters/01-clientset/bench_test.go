package clientset_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
)

// BenchmarkCreates makes 300 ConfigMaps, straight at the API server.
func BenchmarkCreates(b *testing.B) {
	const creates = 300
	for _, row := range []struct {
		name    string
		budget  clientset.Budget // none: client-go's default
		writers int
	}{
		{"client-go's default", clientset.Budget{}, 1},
		{"QPS 50, Burst 100", clientset.Budget{QPS: 50, Burst: 100}, 1},
		{"no limit", clientset.Budget{QPS: -1}, 1},
		{"no limit, 8 writers", clientset.Budget{QPS: -1}, 8},
	} {
		b.Run(row.name, func(b *testing.B) {
			bed := testbed.New(b)
			client := benchClient(bed, row.budget)
			for b.Loop() {
				errs := make([]error, row.writers)
				var writers sync.WaitGroup
				begin := time.Now()
				for w := range row.writers {
					writers.Go(func() {
						for i := w; i < creates; i += row.writers {
							made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c-%d", i)}}
							_, err := client.CoreV1().ConfigMaps(bed.Namespace()).Create(bed.Context(), made, metav1.CreateOptions{})
							errs[w] = errors.Join(errs[w], err)
						}
					})
				}
				writers.Wait()
				took := time.Since(begin).Seconds()
				bed.Must(errors.Join(errs...), "create ConfigMaps")
				b.ReportMetric(took, "s")
				b.ReportMetric(creates/took, "creates/s")
			}
			b.ReportMetric(0, "ns/op") // nothing is repeated: there is one walk a pass
		})
	}
}

// benchClient is a client of the budget, past the bed's proxy.
func benchClient(bed *testbed.Bed, budget clientset.Budget) kubernetes.Interface {
	config := bed.AdminConfig()
	if budget == (clientset.Budget{}) {
		config.QPS, config.Burst = 0, 0
		client, err := kubernetes.NewForConfig(config)
		bed.Must(err, "make a client")
		return client
	}
	client, err := clientset.NewClient(config, shop, budget)
	bed.Must(err, "make a client")
	return client
}
