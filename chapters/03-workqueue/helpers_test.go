package sharing_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
)

// withoutWaiting runs f where time is made up: when everybody in it waits, the
// clock goes on to the next thing that somebody waits for. An hour passes in a
// moment, every wait is exact, and no other program on the machine can change it.
// See testing/synctest.
func withoutWaiting(t *testing.T, f func()) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { f() })
}

// pass lets made-up time pass, in what withoutWaiting runs and nowhere else.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // in a bubble it takes no time, and is exact
}

// ledger is a queue that keeps a record of what is done with it.
type ledger struct {
	sharing.Queue
	mu      sync.Mutex
	added   []sharing.Key
	taken   map[sharing.Key]int // by Get
	done    map[sharing.Key]int
	later   int // AddAfter and AddRateLimited from outside
	forgets map[sharing.Key]int
}

func newLedger(q sharing.Queue) *ledger {
	return &ledger{
		Queue: q,
		taken: map[sharing.Key]int{}, done: map[sharing.Key]int{}, forgets: map[sharing.Key]int{},
	}
}

func (l *ledger) Add(k sharing.Key) {
	l.note(func() { l.added = append(l.added, k) })
	l.Queue.Add(k)
}

func (l *ledger) AddAfter(k sharing.Key, d time.Duration) {
	l.note(func() { l.later++ })
	l.Queue.AddAfter(k, d)
}

func (l *ledger) AddRateLimited(k sharing.Key) {
	l.note(func() { l.later++ })
	l.Queue.AddRateLimited(k)
}

func (l *ledger) Get() (sharing.Key, bool) {
	k, shutdown := l.Queue.Get()
	if !shutdown {
		l.note(func() { l.taken[k]++ })
	}
	return k, shutdown
}

func (l *ledger) Done(k sharing.Key) {
	l.note(func() { l.done[k]++ })
	l.Queue.Done(k)
}

func (l *ledger) Forget(k sharing.Key) {
	l.note(func() { l.forgets[k]++ })
	l.Queue.Forget(k)
}

func (l *ledger) note(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// key is the copy of a name in a namespace called "a".
func key(name string) sharing.Key { return sharing.Key{Namespace: "a", Name: name} }

// keys lists keys for a person, each once.
func keys(all []sharing.Key) string {
	set := map[string]bool{}
	for _, k := range all {
		set[k.String()] = true
	}
	if len(set) == 0 {
		return "no key"
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}

// plural counts for a person.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// configMap makes one with the given labels and data, and shares neither with
// another: objects are made several at a time, and each is filled in.
func configMap(namespace, name string, labels, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: maps.Clone(labels)},
		Data:       maps.Clone(data),
	}
}

func shared(namespace, name string, data map[string]string) *corev1.ConfigMap {
	return configMap(namespace, name, map[string]string{sharing.LabelShared: "true"}, data)
}

func request(namespace, name, source string) *corev1.ConfigMap {
	return configMap(namespace, name, map[string]string{sharing.LabelRequest: "true"}, map[string]string{"source": source})
}

// after are the times of something, from start on, for a person.
func after(start time.Time, times []time.Time) string {
	if len(times) == 0 {
		return "never"
	}
	var said []string
	for i, t := range times {
		if i == 12 {
			said = append(said, fmt.Sprintf("… and %d more", len(times)-i))
			break
		}
		said = append(said, t.Sub(start).String())
	}
	return strings.Join(said, ", ")
}
