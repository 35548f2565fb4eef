package testbed

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/controllings/controllings/testbed/proxy"
)

// again plays a controller: it does something again and again until the check
// ends. The first time has been when again returns.
func again(t *testing.T, every time.Duration, do func()) {
	t.Helper()
	do()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() { cancel(); wg.Wait() })
	wg.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				do()
			case <-ctx.Done():
				return
			}
		}
	})
}

// writer returns a function that writes a ConfigMap as the learner.
func writer(t *testing.T, b *Bed) func() {
	t.Helper()
	maps := b.Clientset().CoreV1().ConfigMaps(b.Namespace())
	return func() {
		_, _ = maps.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	}
}

func reader(b *Bed) func() {
	pods := b.Clientset().CoreV1().Pods(b.Namespace())
	return func() { _, _ = pods.List(context.Background(), metav1.ListOptions{}) }
}

// short is rest, quicker.
var short = IdleOptions{Window: 300 * time.Millisecond, Settle: 200 * time.Millisecond}

func adjusted(o IdleOptions, change func(*IdleOptions)) IdleOptions {
	change(&o)
	return o
}

var restless = Fail{Expected: "rest", See: "README.md#rest"}

func init() {
	for name, part := range map[string]func(t *testing.T){
		"rests": func(t *testing.T) {
			b := New(t)
			writer(t, b)()
			again(t, 20*time.Millisecond, reader(b)) // no writes
			b.Idle(short, restless)
		},
		"rests after some reactions": func(t *testing.T) {
			b := New(t)
			write, left := writer(t, b), atomic.Int32{}
			left.Store(5)
			again(t, 50*time.Millisecond, func() {
				if left.Add(-1) >= 0 {
					write()
				}
			})
			b.Idle(IdleOptions{Window: 500 * time.Millisecond, Settle: 5 * time.Second}, restless)
		},
		"rests but for what doesn't count": func(t *testing.T) {
			b := newProcessBed2(t)
			leases := b.Clientset().CoordinationV1().Leases(b.Namespace())
			lease, err := leases.Create(b.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"}}, metav1.CreateOptions{})
			require.NoError(t, err)
			again(t, 20*time.Millisecond, func() { lease, _ = leases.Update(context.Background(), lease, metav1.UpdateOptions{}) })
			writer(t, b)()
			b.Idle(short, restless)
		},
		"never rests": func(t *testing.T) {
			b := New(t)
			again(t, 20*time.Millisecond, writer(t, b))
			b.Idle(short, restless)
			os.Exit(0)
		},
		"reconciles for ever": func(t *testing.T) {
			b := New(t)
			writer(t, b)()
			var n atomic.Int64
			again(t, 20*time.Millisecond, func() { n.Add(1) })
			b.Idle(adjusted(short, func(o *IdleOptions) { o.Count = func() int { return int(n.Load()) } }), restless)
			os.Exit(0)
		},
		"did nothing before it rested": func(t *testing.T) {
			b := New(t)
			reader(b)()
			b.Idle(short, restless)
			os.Exit(0)
		},
		"only watches and rests": func(t *testing.T) {
			b := New(t)
			reader(b)()
			b.Idle(adjusted(short, func(o *IdleOptions) { o.Presence.Match.Verb = proxy.Read }), restless)
		},
		"loses the cluster and rests": func(t *testing.T) {
			b := New(t)
			writer(t, b)()
			cut := cutOff(t, b)
			first := true
			b.Idle(adjusted(short, func(o *IdleOptions) {
				o.Count = func() int {
					if first {
						first = false
						cut()
					}
					return 0
				}
			}), restless)
			os.Exit(0)
		},
		"crashes and rests": func(t *testing.T) {
			b := newProcessBed2(t)
			writer(t, b)()
			p := b.Start(ProcessOptions{Args: []string{"-exit=1"}})
			p.Wait(time.Minute, Fail{Expected: "an end"})
			b.Idle(short, restless)
			os.Exit(0)
		},
		"sends none": func(t *testing.T) {
			b := New(t)
			again(t, 20*time.Millisecond, reader(b))
			b.NoRequests(Absence{Match: proxy.Match{Verb: proxy.Write}, Window: 200 * time.Millisecond}, restless)
		},
		"sends one": func(t *testing.T) {
			b := New(t)
			again(t, 20*time.Millisecond, writer(t, b))
			b.NoRequests(Absence{Match: proxy.Match{Verb: proxy.Write}, Window: time.Hour}, restless)
			os.Exit(0)
		},
		"sends nothing at all": func(t *testing.T) {
			New(t).NoRequests(Absence{Match: proxy.Match{Verb: proxy.Write}, Window: 100 * time.Millisecond}, restless)
			os.Exit(0)
		},
		"sends nothing at all, and that's the learner's doing": func(t *testing.T) {
			New(t).NoRequests(Absence{Match: proxy.Match{Verb: proxy.Write}, Window: 100 * time.Millisecond,
				Presence: Presence{Otherwise: Fail{Expected: "a request", Seen: "none"}}}, restless)
			os.Exit(0)
		},
		"is made to send some": func(t *testing.T) {
			b := New(t)
			read := reader(b)
			b.NoRequests(Absence{
				Match: proxy.Match{Verb: proxy.Write}, Window: 100 * time.Millisecond,
				Presence: Presence{Match: proxy.Match{Resource: "pods"}, Act: func() { time.AfterFunc(50*time.Millisecond, read) }},
			}, restless)
		},
		"can't be made to send some": func(t *testing.T) {
			b := New(t)
			reader(b)() // before: that's not what the control did
			b.NoRequests(Absence{
				Match: proxy.Match{Verb: proxy.Write}, Window: 100 * time.Millisecond,
				Presence: Presence{Match: proxy.Match{Resource: "pods"}, Act: func() {}, Within: 100 * time.Millisecond},
			}, restless)
			os.Exit(0)
		},
		"is another client": func(t *testing.T) {
			b := New(t)
			reader(b)()
			b.NoRequests(Absence{Match: proxy.Match{Client: "a", Verb: proxy.Write}, Window: 100 * time.Millisecond}, restless)
			os.Exit(0)
		},
		"loses the cluster and sends none": func(t *testing.T) {
			b := New(t)
			reader(b)()
			cutOff(t, b)()
			b.NoRequests(Absence{Match: proxy.Match{Verb: proxy.Write}, Window: 100 * time.Millisecond}, restless)
			os.Exit(0)
		},
		"sent none": func(t *testing.T) {
			b := New(t)
			writer(t, b)() // before the mark
			mark := b.Traffic().Mark()
			reader(b)()
			b.NoRequestsSince(mark, Absence{Match: proxy.Match{Verb: proxy.Write}}, restless)
			b.NoRequestsSince(mark, Absence{Where: func(r proxy.Request) bool { return r.Resource != "pods" }}, restless)
		},
		"sent one": func(t *testing.T) {
			b := New(t)
			mark := b.Traffic().Mark()
			writer(t, b)()
			b.NoRequestsSince(mark, Absence{Match: proxy.Match{Verb: proxy.Write}}, restless)
			os.Exit(0)
		},
		"sent nothing since": func(t *testing.T) {
			b := New(t)
			reader(b)()
			b.NoRequestsSince(b.Traffic().Mark(), Absence{Match: proxy.Match{Verb: proxy.Write}}, restless)
			os.Exit(0)
		},
		"sent none to a dead cluster": func(t *testing.T) {
			b := New(t)
			mark := b.Traffic().Mark()
			reader(b)()
			cutOff(t, b)()
			b.NoRequestsSince(mark, Absence{Match: proxy.Match{Verb: proxy.Write}}, restless)
			os.Exit(0)
		},
	} {
		parts[name] = part
	}
}

func TestReportsOnAbsence(t *testing.T) {
	manager, err := managerOf(t)
	require.NoError(t, err)
	for _, tc := range []struct {
		part, events, says string
	}{
		{"rests", "started passed", ""},
		{"rests after some reactions", "started passed", ""},
		{"rests but for what doesn't count", "started passed", ""},
		{"never rests", "started failed", `seen       \d+ requests in [\d.]+m?s, with nothing left to do:\n +POST /api/v1/namespaces/bed-\w+/configmaps   ×\d+, \d+\.\d a second\n`},
		{"reconciles for ever", "started failed", `seen       \d+ reconciles in [\d.]+m?s \(\d+\.\d a second\)\n`},
		{"did nothing before it rested", "started error", `the positive control failed: no request with Verb write was seen, `},
		{"only watches and rests", "started passed", ""},
		{"loses the cluster and rests", "started error", "sign of life"},
		{"crashes and rests", "started failed", `expected   a process that goes on running\n +seen       it has ended by itself\n(.*\n)* +process manager: ended after .*, exit code 1, and printed:`},
		{"sends none", "started passed", ""},
		{"sends one", "started failed", `seen       after [\d.]+m?s of 1h0m0s: POST /api/v1/namespaces/bed-\w+/configmaps   ×\d+\n`},
		{"sends nothing at all", "started error", `the positive control failed: no request at all was seen, `},
		{"sends nothing at all, and that's the learner's doing", "started failed", `expected   a request\n +seen       none\n`},
		{"is made to send some", "started passed", ""},
		{"can't be made to send some", "started error", `no request with Resource pods was seen, for \d+ms,`},
		{"is another client", "started error", `no request with Client a was seen, `},
		{"loses the cluster and sends none", "started error", "sign of life"},
		{"sent none", "started passed", ""},
		{"sent one", "started failed", `seen       POST /api/v1/namespaces/bed-\w+/configmaps   ×1\n`},
		{"sent nothing since", "started error", "no request at all was seen, "},
		{"sent none to a dead cluster", "started error", "sign of life"},
	} {
		t.Run(tc.part, func(t *testing.T) {
			got, out, exit := play(t, tc.part, EnvManager+"="+manager)
			var events string
			for _, m := range got {
				events += " " + m.Event
			}
			assert.Equal(t, " "+tc.events, events)
			assert.Equal(t, tc.events == "started passed", exit == 0, "exit code %d", exit)
			assert.Regexp(t, tc.says, out)
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

func TestRepeated(t *testing.T) {
	request := func(path, client, caller string) proxy.Request {
		return proxy.Request{Method: "PUT", Path: path, Client: client, Caller: caller}
	}
	requests := []proxy.Request{request("/b", "", ""), request("/a", "x", "/y/app.go:7"), request("/a", "x", "/y/app.go:7")}
	assert.Equal(t, "PUT /a   ×2  from x  app.go:7\nPUT /b   ×1", repeated(requests, 0))
	assert.Equal(t, "PUT /a   ×2, 0.5 a second  from x  app.go:7\nPUT /b   ×1, 0.2 a second", repeated(requests, 4*time.Second))
	var many []proxy.Request
	for _, p := range []string{"/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"} {
		many = append(many, request(p, "", ""))
	}
	assert.Contains(t, repeated(many, 0), "PUT /6   ×1\n… and 2 of other kinds")
}

// A machine that hardly gets to look must not take last reactions for unrest, nor
// miss what comes after them.
func TestQuiet(t *testing.T) {
	count := 0
	begin := time.Now()
	at := func(seconds float64) time.Time { return begin.Add(time.Duration(seconds * float64(time.Second))) }
	w := newQuiet(IdleOptions{Settle: 2 * time.Second, Count: func() int { return count }}, &proxy.Traffic{}, begin)
	w.look(at(1))
	assert.Equal(t, begin, w.from)
	count = 5
	w.look(at(1.9))
	assert.Equal(t, at(1.9), w.from, "the stretch begins anew")
	count = 6
	w.look(at(7)) // it happened somewhere since 1.9
	assert.Equal(t, at(7), w.from)
	assert.False(t, w.broken)
	w.look(at(8))
	assert.False(t, w.broken)
	count = 9
	w.look(at(9))
	assert.True(t, w.broken)
	assert.Equal(t, at(7), w.from)
	assert.Equal(t, "3 reconciles in 2s (1.5 a second)", w.report(at(9)))
	count = 10
	w.look(at(10))
	assert.Equal(t, "4 reconciles in 3s (1.3 a second)", w.report(at(10)))
}
