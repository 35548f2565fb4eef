package informers_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	chapter "github.com/controllings/controllings/chapters/02-informers"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

const (
	benchPods      = 1000
	benchConsumers = 5
)

// BenchmarkReads reads one Pod 500 times, from the API server and from the copy.
func BenchmarkReads(b *testing.B) {
	const reads = 500
	for _, row := range []struct {
		name string
		from func(ctx context.Context, bed *testbed.Bed, client kubernetes.Interface) func() error
	}{
		{"from the API server", func(ctx context.Context, bed *testbed.Bed, client kubernetes.Interface) func() error {
			return func() error {
				_, err := client.CoreV1().Pods(bed.Namespace()).Get(ctx, "web", metav1.GetOptions{})
				return err
			}
		}},
		{"from the copy", func(ctx context.Context, bed *testbed.Bed, client kubernetes.Interface) func() error {
			lister, err := chapter.SyncedPods(ctx, client, bed.Namespace())
			bed.Must(err, "make a lister")
			return func() error {
				_, err := lister.Get("web")
				return err
			}
		}},
	} {
		b.Run(row.name, func(b *testing.B) {
			bed := testbed.New(b)
			bed.Create(newPod("web", "web"))
			ctx, stop := context.WithCancel(bed.Context())
			defer stop()
			read := row.from(ctx, bed, bed.Clientset())
			for b.Loop() {
				mark := bed.Traffic().Mark()
				begin := time.Now()
				for range reads {
					bed.Must(read(), "read the Pod")
				}
				took := time.Since(begin)
				b.ReportMetric(float64(took.Nanoseconds())/1000/reads, "µs/read")
				b.ReportMetric(reads/took.Seconds(), "reads/s")
				b.ReportMetric(float64(bed.Traffic().Since(mark).Count(proxy.Match{Resource: "pods"})), "requests")
			}
			b.ReportMetric(0, "ns/op") // a pass is one run
		})
	}
}

// BenchmarkConsumers has five consumers follow 1,000 Pods, each of which changes
// once.
func BenchmarkConsumers(b *testing.B) {
	for _, row := range []struct {
		name      string
		informers int
	}{
		{"five informers", benchConsumers},
		{"one shared informer", 1},
	} {
		b.Run(row.name, func(b *testing.B) {
			bed := testbed.New(b)
			pods := make([]testbed.Object, benchPods)
			for i := range pods {
				pods[i] = newPod(fmt.Sprintf("web-%d", i), "web") // nobody schedules them: only we change them
			}
			bed.Create(pods...)
			for b.Loop() {
				mark := bed.Traffic().Mark()
				before := memory()
				var told atomic.Int64
				ctx, stop := context.WithCancel(bed.Context())
				end := consume(ctx, bed, row.informers, &told)
				synced := memory()

				events := told.Load() + benchPods*benchConsumers
				begin := time.Now()
				changePods(bed)
				for told.Load() < events {
					time.Sleep(time.Millisecond) //nolint:forbidigo // polls, as finely as is measured
				}
				took := time.Since(begin)
				after := memory()
				var bytes int64
				for _, r := range bed.Traffic().Since(mark).Requests(proxy.Match{Resource: "pods", Verb: proxy.Read}) {
					bytes += r.Bytes
				}
				b.ReportMetric(float64(bed.Traffic().Since(mark).Count(proxy.Match{Resource: "pods", Verb: "watch"})), "watches")
				b.ReportMetric(float64(synced.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "MiB-allocated")
				b.ReportMetric(float64(bytes)/(1<<20), "MiB-sent")
				b.ReportMetric(float64(after.NumGC-before.NumGC)-2, "GCs") // two were asked for
				b.ReportMetric(benchPods*benchConsumers/took.Seconds(), "events/s")
				stop()
				end()
			}
			removePods(bed)
			b.ReportMetric(0, "ns/op") // a pass is one run
		})
	}
}

// consume starts five consumers on one informer or on five, and returns when each
// has been told of all Pods.
func consume(ctx context.Context, bed *testbed.Bed, n int, told *atomic.Int64) (end func()) {
	client := bed.Clientset()
	var factories []informers.SharedInformerFactory
	for range n {
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(bed.Namespace()))
		for range benchConsumers / n {
			_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(any) { told.Add(1) },
				UpdateFunc: func(any, any) { told.Add(1) },
			})
			bed.Must(err, "add a handler")
		}
		factory.StartWithContext(ctx)
		factories = append(factories, factory)
	}
	for told.Load() < benchPods*benchConsumers {
		time.Sleep(time.Millisecond) //nolint:forbidigo // polls, as finely as is measured
	}
	return func() {
		for _, f := range factories {
			f.Shutdown()
		}
	}
}

// changePods changes each Pod once, past the bed's proxy and by eight writers.
func changePods(bed *testbed.Bed) {
	pods, err := bed.Admin().CoreV1().Pods(bed.Namespace()).List(bed.Context(), metav1.ListOptions{})
	bed.Must(err, "list the Pods")
	var next atomic.Int64
	done := make(chan error, 8)
	for range 8 {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(pods.Items) {
					done <- nil
					return
				}
				patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"seen":"%d"}}}`, time.Now().UnixNano())
				if _, err := bed.Admin().CoreV1().Pods(bed.Namespace()).Patch(bed.Context(), pods.Items[i].Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for range 8 {
		bed.Must(<-done, "change the Pods")
	}
}

// removePods waits until no Pod is left: nothing of this row goes on in the next.
func removePods(bed *testbed.Bed) {
	pods := bed.Admin().CoreV1().Pods(bed.Namespace())
	bed.Must(pods.DeleteCollection(bed.Context(), metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, metav1.ListOptions{}), "remove the Pods")
	bed.Eventually(time.Minute, testbed.Fail{Expected: "the Pods to be gone"}, func(ctx context.Context) (bool, string) {
		left, err := pods.List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil && len(left.Items) == 0, fmt.Sprintf("some are left (%v)", err)
	})
}

func memory() runtime.MemStats {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m
}
