package proxy

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// client-go comes again ten times where the answer says when, for any verb, and
// not at all where it doesn't, or where the status is none of those that pass.
func TestRetriesOfClientGo(t *testing.T) {
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s got through", r.URL.Path) })
	maps := kubernetes.NewForConfigOrDie(w.Config()).CoreV1().ConfigMaps("ns")
	var all sync.WaitGroup
	for _, tc := range []struct {
		name       string
		status     int
		retryAfter time.Duration
		verb       string
		requests   int
	}{
		{"a", 429, time.Second, "get", 11},
		{"b", 503, time.Second, "get", 11},
		{"c", 500, time.Second, "delete", 11},
		{"d", 429, time.Second, "delete", 11},
		{"e", 429, 0, "get", 1},
		{"f", 503, 0, "get", 1},
		{"g", 500, 0, "delete", 1},
		{"h", 409, time.Second, "delete", 1},
		{"i", 404, time.Second, "get", 1},
	} {
		h := w.Faults().Add(Rule{Match: Match{Name: tc.name}, Status: tc.status, RetryAfter: tc.retryAfter})
		all.Go(func() {
			start := time.Now()
			var err error
			if tc.verb == "get" {
				_, err = maps.Get(t.Context(), tc.name, metav1.GetOptions{})
			} else {
				err = maps.Delete(t.Context(), tc.name, metav1.DeleteOptions{})
			}
			assert.Equal(t, reasons[tc.status], apierrors.ReasonForError(err), "%+v", tc)
			assert.Equal(t, tc.requests, h.Hits(), "%+v", tc)
			assert.GreaterOrEqual(t, time.Since(start), time.Duration(tc.requests-1)*tc.retryAfter, "%+v", tc)
			seconds, ok := apierrors.SuggestsClientDelay(err)
			assert.Equal(t, tc.retryAfter > 0, ok, "%+v", tc)
			assert.Equal(t, int(tc.retryAfter/time.Second), seconds, "%+v", tc)
		})
	}
	all.Wait()
}
