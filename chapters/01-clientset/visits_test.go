package clientset_test

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/controllings/controllings/testbed"
)

// visits counts the visits of one walk. They may come on any goroutine, but one
// at a time: the first lasts until another begins beside it, or for a moment if
// none does.
type visits struct {
	lasting time.Duration

	mu     sync.Mutex
	total  int
	byName map[string]int
	open   int           // begun and not over
	beside chan struct{} // closed when one has begun beside another
}

func newVisits() *visits {
	return &visits{lasting: testbed.Scale(50 * time.Millisecond), byName: map[string]int{}, beside: make(chan struct{})}
}

// visit is a visitor that does nothing but count.
func (v *visits) visit(cm *corev1.ConfigMap) error {
	v.add(cm)
	return nil
}

// add counts a visit and tells which one it is, from 1.
func (v *visits) add(cm *corev1.ConfigMap) int {
	n := v.begin(cm.Name)
	defer v.end()
	if n == 1 {
		select {
		case <-v.beside:
		case <-time.After(v.lasting):
		}
	}
	return n
}

func (v *visits) begin(name string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.total++
	v.byName[name]++
	if v.open++; v.open > 1 && !v.together() {
		close(v.beside)
	}
	return v.total
}

func (v *visits) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open--
}

func (v *visits) together() bool {
	select {
	case <-v.beside:
		return true
	default:
		return false
	}
}

// of tells how often an object was visited.
func (v *visits) of(name string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.byName[name]
}

// all tells how many visits there were.
func (v *visits) all() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.total
}

func (v *visits) expectOneAtATime(b *testbed.Bed) {
	if v.together() {
		b.Fail(testbed.Fail{
			Expected: "visit to be called for one object at a time: the next when it has returned",
			Seen:     "a visit that began while another was under way",
			See:      pagesPart,
		})
	}
}
