package testbed

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// BenchmarkNew is what each check pays before its first line runs.
func BenchmarkNew(b *testing.B) {
	b.Chdir("testdata/chapter")
	for b.Loop() {
		New(b)
	}
}

// BenchmarkGet compares a request through the proxy with one straight to the API
// server.
func BenchmarkGet(b *testing.B) {
	b.Chdir("testdata/chapter")
	bed := New(b)
	bed.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}})
	for name, c := range map[string]kubernetes.Interface{"straight": bed.Admin(), "proxy": bed.Clientset()} {
		b.Run(name, func(b *testing.B) {
			maps := c.CoreV1().ConfigMaps(bed.Namespace())
			for b.Loop() {
				if _, err := maps.Get(b.Context(), "c", metav1.GetOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWatch is the time from a write to its event, in the same two ways.
func BenchmarkWatch(b *testing.B) {
	b.Chdir("testdata/chapter")
	bed := New(b)
	for name, c := range map[string]kubernetes.Interface{"straight": bed.Admin(), "proxy": bed.Clientset()} {
		b.Run(name, func(b *testing.B) {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}}
			bed.Create(cm)
			watching, err := c.CoreV1().ConfigMaps(bed.Namespace()).Watch(b.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + cm.Name})
			if err != nil {
				b.Fatal(err)
			}
			defer watching.Stop()
			for b.Loop() {
				cm.Data = map[string]string{"at": time.Now().String()}
				if cm, err = bed.Admin().CoreV1().ConfigMaps(bed.Namespace()).Update(b.Context(), cm, metav1.UpdateOptions{}); err != nil {
					b.Fatal(err)
				}
				for e := range watching.ResultChan() {
					if e.Object.(*corev1.ConfigMap).ResourceVersion == cm.ResourceVersion {
						break
					}
				}
			}
		})
	}
}
