package testbed

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/controllings/controllings/testbed/proxy"
)

// The faults, against client-go and a real API server: what the comments of
// proxy.Rule say of both.

var (
	mapWatches = proxy.Match{Verb: "watch", Resource: "configmaps"}
	mapLists   = proxy.Match{Verb: "list", Resource: "configmaps"}
	// mapStreams are streaming lists.
	mapStreams = proxy.Match{Verb: "watch", Resource: "configmaps", Query: map[string]string{"sendInitialEvents": "true"}}
)

// informerKinds are the ways in which client-go fills a cache.
var informerKinds = []struct {
	name      string
	watchList bool
	informer  func(b *Bed) cache.SharedIndexInformer
}{
	{"protobuf", true, typedInformer("")},
	{"protobuf without streaming lists", false, typedInformer("")},
	{"JSON", true, typedInformer("application/json")},
	{"dynamic", true, func(b *Bed) cache.SharedIndexInformer {
		client, err := dynamic.NewForConfig(b.Config())
		b.Must(err, "make a client")
		f := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, b.Namespace(), nil)
		return f.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Informer()
	}},
	{"metadata", false, func(b *Bed) cache.SharedIndexInformer {
		client, err := metadata.NewForConfig(b.Config())
		b.Must(err, "make a client")
		f := metadatainformer.NewFilteredSharedInformerFactory(client, 0, b.Namespace(), nil)
		return f.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Informer()
	}},
}

func typedInformer(contentType string) func(*Bed) cache.SharedIndexInformer {
	return func(b *Bed) cache.SharedIndexInformer {
		c := b.Config()
		c.ContentType = contentType
		f := informers.NewSharedInformerFactoryWithOptions(b.clientset(c), 0, informers.WithNamespace(b.Namespace()))
		return f.Core().V1().ConfigMaps().Informer()
	}
}

// cached is an informer that runs, and what is about it.
type cached struct {
	*Bed
	t         *testing.T
	store     cache.Store
	hasSynced func() bool
	watchList bool
}

// start runs an informer until the subtest ends.
func (b *Bed) start(t *testing.T, informer cache.SharedIndexInformer, watchList bool) *cached {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		informer.RunWithContext(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		// An old watch might take what is meant for the next informer's.
		require.Eventually(t, func() bool {
			for _, r := range b.Traffic().Requests(mapWatches) {
				if !r.Done {
					return false
				}
			}
			return true
		}, Scale(10*time.Second), time.Millisecond, "all watches have ended")
	})
	return &cached{b, t, informer.GetStore(), informer.HasSynced, watchList}
}

// versions are the objects of a list or a store by their names, each with its
// resourceVersion.
func versions[T any](objects []T) map[string]string {
	all := map[string]string{}
	for _, o := range objects {
		m, err := meta.Accessor(o)
		if err != nil {
			return map[string]string{"error": err.Error()}
		}
		all[m.GetName()] = m.GetResourceVersion()
	}
	return all
}

// write makes or changes a ConfigMap behind the learner's back.
func (c *cached) write(name string) *corev1.ConfigMap {
	c.t.Helper()
	all := c.Admin().CoreV1().ConfigMaps(c.Namespace())
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"at": time.Now().String()}}
	got, err := all.Update(c.Context(), cm, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		got, err = all.Create(c.Context(), cm, metav1.CreateOptions{})
	}
	require.NoError(c.t, err)
	return got
}

func (c *cached) remove(name string) {
	c.t.Helper()
	require.NoError(c.t, c.Admin().CoreV1().ConfigMaps(c.Namespace()).Delete(c.Context(), name, metav1.DeleteOptions{}))
}

func (c *cached) until(what string, ok func() bool) {
	c.t.Helper()
	require.Eventually(c.t, ok, Scale(20*time.Second), 5*time.Millisecond, what)
}

// converges waits until the store holds what the API server has.
func (c *cached) converges() {
	c.t.Helper()
	var have, want map[string]string
	ok := func() bool {
		list, err := c.Admin().CoreV1().ConfigMaps(c.Namespace()).List(c.Context(), metav1.ListOptions{})
		if err != nil || !c.hasSynced() {
			return false
		}
		items := make([]*corev1.ConfigMap, len(list.Items))
		for i := range list.Items {
			items[i] = &list.Items[i]
		}
		have, want = versions(c.store.List()), versions(items)
		return maps.Equal(have, want)
	}
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for end := time.Now().Add(Scale(20 * time.Second)); !ok(); <-poll.C {
		if time.Now().After(end) {
			assert.Equal(c.t, want, have, "cache and API server")
			for _, r := range c.Traffic().Requests(proxy.Match{Resource: "configmaps"}) {
				c.t.Log(r)
			}
			c.t.FailNow()
		}
	}
}

// settled is a cache that has converged, and has got an event by its open watch:
// a watch that ends within a second and without one is another story.
func (c *cached) settled() proxy.Mark {
	c.t.Helper()
	c.converges()
	c.write("settled")
	c.converges()
	return c.Traffic().Mark()
}

// relists is how often the cache was filled anew since the mark.
func (c *cached) relists(since proxy.Mark) int {
	w := c.Traffic().Since(since)
	return w.Count(mapLists) + w.Count(mapStreams)
}

func TestCachesSurvive(t *testing.T) {
	for _, kind := range informerKinds {
		t.Run(kind.name, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, kind.watchList)
			b := newBed(t)
			for name, survive := range map[string]func(*cached){
				"a watch that is closed":       surviveClose,
				"a watch that is closed often": surviveCloseAfterEvents,
				"a watch that is closed twice": surviveCloseAtOnce,
				"an expired watch":             surviveExpire,
				"an expired watch at the next": surviveExpireAtOpening,
				"a dropped connection":         surviveDrop,
				"429 for a watch":              survive429,
				"429 for a watch, no time":     survive429WithoutTime,
				"held events":                  surviveHold,
				"late events":                  surviveDelay,
				"a half-open connection":       surviveHalfOpen,
			} {
				t.Run(name, func(t *testing.T) {
					c := b.start(t, kind.informer(b), kind.watchList)
					defer c.converges() // once more, when the faults are gone
					survive(c)
				})
			}
		})
	}
}

func surviveClose(c *cached) {
	mark := c.settled()
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Close: true, Times: 1})
	defer h.Remove()
	c.write("after")
	c.remove("settled")
	c.converges()
	assert.Equal(c.t, 1, h.Hits())
	assert.Equal(c.t, 1, c.Traffic().Since(mark).Count(mapWatches), "it is opened again")
	assert.Zero(c.t, c.relists(mark), "and goes on where it was")
}

func surviveCloseAfterEvents(c *cached) {
	mark := c.settled()
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Close: true, AfterEvents: 2, Times: 3})
	defer h.Remove()
	for i := range 10 {
		c.write(fmt.Sprint("e", i%3))
	}
	c.converges()
	assert.Equal(c.t, 3, h.Hits())
	assert.Equal(c.t, 3, c.Traffic().Since(mark).Count(mapWatches))
	assert.Zero(c.t, c.relists(mark))
}

// A watch without an event within its first second is suspicious.
func surviveCloseAtOnce(c *cached) {
	mark := c.settled()
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Close: true, Times: 2})
	defer h.Remove()
	c.until("the second is closed too", func() bool { return h.Hits() == 2 })
	c.write("after")
	c.converges()
	assert.Equal(c.t, 1, c.relists(mark))
}

func surviveExpire(c *cached) {
	mark := c.settled()
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Expire: true, Times: 1})
	defer h.Remove()
	c.write("after")
	c.remove("settled")
	c.converges()
	assert.Equal(c.t, 1, h.Hits())
	assert.Equal(c.t, 1, c.relists(mark), "it lists anew")
	if c.watchList {
		assert.Equal(c.t, 1, c.Traffic().Since(mark).Count(mapStreams), "by a streaming list")
	}
}

func surviveExpireAtOpening(c *cached) {
	mark := c.settled()
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Expire: true, Times: 1, After: 1})
	defer h.Remove()
	c.Faults().Add(proxy.Rule{Match: mapWatches, Close: true, Times: 1}) // so that it is opened again
	c.write("after")
	c.converges()
	assert.Equal(c.t, 1, h.Hits())
	assert.Equal(c.t, 1, c.relists(mark))
	second := c.Traffic().Since(mark).Requests(mapWatches)[0]
	assert.True(c.t, second.Fault)
	assert.Contains(c.t, second.String(), "ERROR 410 put in by the check")
}

func surviveDrop(c *cached) {
	mark := c.settled()
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Drop: true, Times: 1})
	defer h.Remove()
	c.write("after")
	c.remove("settled")
	c.converges()
	assert.Equal(c.t, 1, h.Hits())
	assert.Zero(c.t, c.relists(mark), "the watch goes on where it was")
}

func survive429(c *cached) {
	mark := c.settled()
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Status: 429, RetryAfter: time.Second, Times: 2})
	defer h.Remove()
	c.Faults().Add(proxy.Rule{Match: mapWatches, Close: true, Times: 1})
	c.write("after")
	c.converges()
	assert.Equal(c.t, 2, h.Hits())
	opened := c.Traffic().Since(mark).Requests(mapWatches)
	require.Len(c.t, opened, 3)
	for i := range 2 {
		assert.Equal(c.t, 429, opened[i].Status)
		assert.GreaterOrEqual(c.t, opened[i+1].Start.Sub(opened[i].Start), time.Second)
	}
	assert.Zero(c.t, c.relists(mark))
}

// Without a time client-go doesn't come again, but the reflector does.
func survive429WithoutTime(c *cached) {
	mark := c.settled()
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Status: 429, Times: 1})
	defer h.Remove()
	c.Faults().Add(proxy.Rule{Match: mapWatches, Close: true, Times: 1})
	c.write("after")
	c.converges()
	assert.Equal(c.t, 1, h.Hits())
	assert.Zero(c.t, c.relists(mark))
}

// While events are held the cache is provably stale; then it is right again.
func surviveHold(c *cached) {
	mark := c.settled()
	stale := versions(c.store.List())
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Hold: true})
	defer h.Remove()
	c.write("settled")
	c.write("after")
	c.write("after")
	c.remove("settled")
	c.until("4 events are held", func() bool { return h.Held() == 4 })
	assert.Equal(c.t, stale, versions(c.store.List()))
	h.Remove()
	c.converges()
	assert.Equal(c.t, 1, h.Hits())
	assert.Zero(c.t, c.Traffic().Since(mark).Count(mapWatches), "it is the same watch")
}

func surviveDelay(c *cached) {
	c.settled()
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Delay: 500 * time.Millisecond})
	defer h.Remove()
	start := time.Now()
	changed := c.write("settled")
	c.until("the change arrives", func() bool { return versions(c.store.List())["settled"] == changed.ResourceVersion })
	assert.GreaterOrEqual(c.t, time.Since(start), 500*time.Millisecond)
	for i := range 20 {
		c.write(fmt.Sprint("e", i))
	}
	c.converges()
}

// Nothing ends and nothing comes: the client doesn't notice within the window,
// and would not for 45 s.
func surviveHalfOpen(c *cached) {
	mark := c.settled()
	stale := versions(c.store.List())
	h := c.Faults().Add(proxy.Rule{Match: mapWatches, Blackhole: true, Times: 1})
	defer h.Remove()
	assert.Equal(c.t, 1, h.Hits())
	c.write("after")
	c.Stays(time.Second, Fail{Expected: "a client that notices nothing"}, func(context.Context) (bool, string) {
		return c.Traffic().Since(mark).Count(proxy.Match{}) == 0 && maps.Equal(stale, versions(c.store.List())), "it did"
	})
	h.Remove()
	c.converges()
	assert.Zero(c.t, c.relists(mark), "a closed connection ends a watch, and it goes on where it was")
}

// A cache fills although everything is slow, and although the first requests for
// it are turned away.
func TestCachesFill(t *testing.T) {
	for _, kind := range informerKinds {
		t.Run(kind.name, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, kind.watchList)
			b := newBed(t)
			b.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "b"}})
			first := mapLists
			if kind.watchList {
				first = mapStreams
			}
			for name, rule := range map[string]proxy.Rule{
				"late":                 {Latency: 300 * time.Millisecond},
				"429":                  {Match: first, Status: 429, RetryAfter: time.Second, Times: 1},
				"429 without a time":   {Match: first, Status: 429, Times: 1},
				"410":                  {Match: first, Status: 410, Times: 1},
				"500":                  {Match: first, Status: 500, Times: 1},
				"dropped":              {Match: first, Drop: true, Times: 1},
				"late events":          {Match: mapWatches, Delay: 300 * time.Millisecond},
				"expired in its midst": {Match: mapWatches, Expire: true, AfterEvents: 1, Times: 1},
				"closed in its midst":  {Match: mapWatches, Close: true, AfterEvents: 1, Times: 1},
				"dropped in its midst": {Match: mapWatches, Drop: true, AfterEvents: 1, Times: 1},
			} {
				t.Run(name, func(t *testing.T) {
					h := b.Faults().Add(rule)
					defer h.Remove()
					c := b.start(t, kind.informer(b), kind.watchList)
					c.converges()
					c.write("a") // the first event, where a list has filled the cache
					c.write("a")
					c.converges()
					assert.Positive(t, h.Hits())
				})
			}
		})
	}
}

// A client finds out by a ping that its connection is dead, and connects anew.
func TestAPingFindsAHalfOpenConnection(t *testing.T) {
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "1")
	b := newBed(t)
	c := b.start(t, typedInformer("")(b), true)
	c.settled()
	mark := b.Traffic().Mark()
	h := b.Faults().Add(proxy.Rule{Match: mapWatches, Blackhole: true, Times: 1})
	defer h.Remove()
	c.write("after")
	c.converges()
	assert.Equal(t, 1, h.Hits())
	assert.Equal(t, 1, c.relists(mark), "a lost connection is an error of the watch, and it lists anew")
	assert.False(t, b.Traffic().Requests(mapWatches)[0].Done, "this side doesn't learn of it")
}

func TestACreateWhoseAnswerIsLost(t *testing.T) {
	b := newBed(t)
	h := b.Faults().Add(proxy.Rule{Match: proxy.Match{Verb: "create", Resource: "configmaps"}, DropAnswer: true, Times: 1})
	maps := b.Clientset().CoreV1().ConfigMaps(b.Namespace())
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	_, err := maps.Create(b.Context(), cm, metav1.CreateOptions{})
	require.Error(t, err)
	assert.True(t, utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err), "%v", err)
	assert.Equal(t, metav1.StatusReasonUnknown, apierrors.ReasonForError(err))
	made, err := b.Admin().CoreV1().ConfigMaps(b.Namespace()).Get(b.Context(), "c", metav1.GetOptions{})
	require.NoError(t, err, "it exists all the same")
	_, err = maps.Create(b.Context(), cm, metav1.CreateOptions{})
	assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)
	got, err := maps.Get(b.Context(), "c", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, made.UID, got.UID)
	assert.Equal(t, 1, h.Hits())
	assert.Equal(t, 201, b.Traffic().Requests(proxy.Match{Verb: "create"})[0].Status)
}

// The leader is cut off, with all its connections. The other takes over, and the
// first finds out that it leads no more; when the network is back, it comes second.
func TestTheLeaderIsCutOff(t *testing.T) {
	b := newBed(t)
	one, two := b.elect(t, "one"), b.elect(t, "two")
	one.campaign()
	<-one.leads
	two.campaign()
	h := b.Faults().Add(proxy.Rule{Match: proxy.Match{Client: "one"}, Blackhole: true})
	mark := b.Traffic().Mark()
	<-one.stopped
	<-two.leads
	for _, r := range b.Traffic().Since(mark).Requests(proxy.Match{Client: "one"}) {
		assert.True(t, r.Fault && r.Status == 0, "%s", r)
	}
	h.Remove()
	one.campaign()
	b.Eventually(10*time.Second, Fail{Expected: "one to try again"}, func(context.Context) (bool, string) {
		n := 0
		for _, r := range b.Traffic().Since(mark).Requests(proxy.Match{Client: "one"}) {
			if r.Status == http.StatusOK {
				n++
			}
		}
		return n >= 2, fmt.Sprint(n, " answers")
	})
	assert.False(t, one.IsLeader())
	assert.True(t, two.IsLeader())
}

// candidate is one of two that want to lead, with connections of its own.
type candidate struct {
	*leaderelection.LeaderElector
	t              *testing.T
	leads, stopped chan struct{}
}

func (b *Bed) elect(t *testing.T, name string) *candidate {
	t.Helper()
	config := b.Client(name).Config()
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } // keeps client-go from sharing connections
	client, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(client.Transport) })
	all, err := kubernetes.NewForConfigAndClient(config, client)
	require.NoError(t, err)
	c := &candidate{t: t, leads: make(chan struct{}, 1), stopped: make(chan struct{}, 1)}
	c.LeaderElector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: b.Namespace(), Name: "lead"},
			Client:     all.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration: Scale(4 * time.Second), RenewDeadline: Scale(2 * time.Second), RetryPeriod: Scale(500 * time.Millisecond),
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { c.leads <- struct{}{} },
			OnStoppedLeading: func() {
				select {
				case c.stopped <- struct{}{}:
				default:
				}
			},
		},
	})
	require.NoError(t, err)
	return c
}

// campaign runs until leadership is lost or the test ends.
func (c *candidate) campaign() {
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx)
	}()
	c.t.Cleanup(func() { cancel(); <-done })
}
