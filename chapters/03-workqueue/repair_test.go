package sharing_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

const levelPart = "README.md#level-not-edge"

func TestRepairsWhatItMissed(t *testing.T) {
	b := testbed.New(t)
	w := newWorld(b)
	w.layOut()
	w.start()

	// All that follows happened before the caches were filled: no event tells of it.
	w.repairs("a copy that is missing", "new", "create")
	w.looksLike("new", map[string]string{"colour": "blue"}, nil)
	w.repairs("a copy whose source was deleted while nobody looked", "orphan", "delete")
	w.isGone("orphan")
	w.repairs("a copy whose request was deleted while nobody looked", "unasked", "delete")
	w.isGone("unasked")
	w.repairs("a copy whose source is no longer shared", "unshared", "delete")
	w.isGone("unshared")
	w.repairs("a copy whose source has changed", "changed", "update")
	w.looksLike("changed", map[string]string{"colour": "blue"}, map[string]string{"team": "shop"})
	w.repairs("a copy that somebody added to", "extended", "update")
	w.looksLike("extended", map[string]string{"colour": "blue"}, nil)
	w.repairs("a copy with other binary data than its source", "binary", "update")
	if got := w.get("binary"); string(got.BinaryData["key"]) != "new" {
		w.fail("the binary data of its source in the copy binary", fmt.Sprintf("%q", got.BinaryData))
	}
	w.repairs("a copy that is right", "same", "")
	w.repairs("a copy that is right, of a source without data", "empty", "")
	w.repairs("neither a source nor a copy", "nothing", "")
	w.repairs("somebody else's ConfigMap, and nobody who asks for a copy", "foreign", "")
	w.repairs("a copy of another source namespace, and nobody who asks", "others", "")
	w.refuses("taken")
	w.refuses("taken-alike")

	w.returnsErrors()
	w.leavesWhatHasChanged()
}

// world is a source namespace and a target, and what keeps the one like the other.
type world struct {
	*testbed.Bed
	target string
	caches *sharing.Caches
	copier *sharing.Copier
}

func newWorld(b *testbed.Bed) *world { return &world{Bed: b, target: b.NewNamespace()} }

func (w *world) layOut() {
	data := map[string]string{"colour": "blue"}
	old := map[string]string{"colour": "red", "size": "4"}
	copyOf := func(name string, data map[string]string) *corev1.ConfigMap {
		return sharing.NewCopy(configMap(w.Namespace(), name, nil, data), w.target)
	}
	changed := copyOf("changed", old)
	changed.Labels["team"] = "shop"
	changed.Annotations = map[string]string{"team": "shop"}
	binary, oldBinary := shared("", "binary", nil), copyOf("binary", nil)
	binary.BinaryData, oldBinary.BinaryData = map[string][]byte{"key": []byte("new")}, map[string][]byte{"key": []byte("old")}
	others := copyOf("others", data)
	others.Labels[sharing.LabelCopyOf] = "another-source"
	alike := copyOf("taken-alike", data) // as the copy would be, but for whose it is
	alike.Labels[sharing.LabelCopyOf] = "another-source"

	sources := []testbed.Object{binary, configMap("", "unshared", nil, data), shared("", "empty", nil)}
	for _, name := range []string{"new", "unasked", "changed", "extended", "same", "taken", "taken-alike", "refused", "edited", "appeared", "ended", "ended-old"} {
		sources = append(sources, shared("", name, data))
	}
	w.CreateIn(w.Namespace(), sources...)

	targets := []testbed.Object{
		copyOf("orphan", data), copyOf("unasked", data), copyOf("unshared", data),
		changed, copyOf("extended", map[string]string{"colour": "blue", "more": "1"}), oldBinary,
		copyOf("same", data), copyOf("empty", nil), others, alike,
		configMap("", "foreign", nil, old), configMap("", "taken", nil, old),
		copyOf("replaced", data), copyOf("taken-over", data), copyOf("edited", old), copyOf("gone", data),
		copyOf("ended-old", old), copyOf("ended-orphan", data),
	}
	for _, name := range []string{"new", "orphan", "unshared", "changed", "extended", "binary", "same", "empty", "taken", "taken-alike", "refused", "edited", "appeared", "ended", "ended-old"} {
		targets = append(targets, request("", "asks-for-"+name, name))
	}
	w.CreateIn(w.target, targets...)
}

// start fills the caches. They serve the check's calls of Sync: no worker runs.
func (w *world) start() {
	client := w.Clientset()
	w.caches = sharing.NewCaches(client, w.Namespace(), w.target)
	w.caches.Start(w.Context())
	ctx, cancel := context.WithTimeout(w.Context(), testbed.Scale(10*time.Second))
	defer cancel()
	w.Must(w.caches.WaitForSync(ctx), "fill the caches")
	w.copier = &sharing.Copier{
		Client: client,
		Caches: w.caches,
		Queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedItemBasedRateLimiter[sharing.Key]()),
		Source: w.Namespace(),
	}
}

func (w *world) sync(ctx context.Context, name string) error {
	return w.copier.Sync(ctx, sharing.Key{Namespace: w.target, Name: name})
}

// sentSince are the requests of Sync since mark. The caches' own are watches, or
// lists on a goroutine of theirs.
func (w *world) sentSince(mark proxy.Mark) []proxy.Request {
	var sent []proxy.Request
	for _, r := range w.Traffic().Since(mark).Requests(proxy.Match{Resource: "configmaps"}) {
		if r.Verb != "watch" && (r.Verb != "list" || r.Caller != "") {
			sent = append(sent, r)
		}
	}
	return sent
}

// show lists requests for a person.
func show(requests []proxy.Request) string {
	seen := plural(len(requests), "request")
	for _, r := range requests {
		seen += "\n" + r.String()
	}
	return seen
}

// repairs calls Sync once and looks at what it sends: one request of a kind, which
// may be a patch as well, or none.
func (w *world) repairs(what, name, verb string) {
	mark := w.Traffic().Mark()
	cached := w.caches.Get(w.target, name)
	was := cached.DeepCopy()
	err := w.sync(w.Context(), name)
	if cached != nil && !equality.Semantic.DeepEqual(was, cached) {
		w.fail("what the cache holds left as it was, with "+what+": others read it, too", "a changed ConfigMap "+name+" in the cache")
	}
	sent := w.sentSince(mark)
	expected := what + ": one request, a " + verb
	if verb == "" {
		expected = what + ": no request at all"
	}
	seen := show(sent)
	if err != nil {
		w.fail(expected, seen+fmt.Sprintf("\nerror: %v", err))
	}
	switch {
	case verb == "" && len(sent) == 0:
	case len(sent) == 1 && (sent[0].Verb == verb || sent[0].Verb == "patch" && verb != "delete"):
	default:
		w.fail(expected, seen)
	}
}

// refuses wants an error, and somebody else's ConfigMap as it was.
func (w *world) refuses(name string) {
	was := w.get(name)
	err := w.sync(w.Context(), name)
	if now := w.get(name); now == nil || now.ResourceVersion != was.ResourceVersion {
		w.fail("somebody else's ConfigMap "+name+" left alone, though a copy should be in its place", describe(now))
	}
	if err == nil {
		w.fail("an error that says that the name of the copy "+name+" is taken by somebody else's ConfigMap", "no error")
	}
}

// returnsErrors has the API server refuse a request, and a context that has ended.
func (w *world) returnsErrors() {
	fault := w.Faults().Add(proxy.Rule{Match: proxy.Match{Verb: proxy.Write, Namespace: w.target}, Status: 500})
	err := w.sync(w.Context(), "refused")
	hits := fault.Hits()
	fault.Remove()
	if hits != 1 || !apierrors.IsInternalError(err) {
		w.fail("one try to make the copy refused, which the API server answers with 500, and its error returned: the queue does the retrying",
			fmt.Sprintf("%s, and the error %v", plural(hits, "try"), err))
	}
	ctx, cancel := context.WithCancel(w.Context())
	cancel()
	for _, name := range []string{"ended", "ended-old", "ended-orphan"} {
		was := w.get(name)
		err := w.sync(ctx, name)
		if now := w.get(name); err == nil || !equality.Semantic.DeepEqual(was, now) {
			w.fail("the request for the copy "+name+" sent with the context of Sync, which has ended: an error, and nothing changed",
				fmt.Sprintf("error %v, and %s", err, describe(now)))
		}
	}
}

// leavesWhatHasChanged keeps the caches in the past, while others change what is in
// the target.
func (w *world) leavesWhatHasChanged() {
	held := w.Faults().Add(proxy.Rule{Match: proxy.Match{Verb: "watch", Namespace: w.target}, Hold: true})
	defer held.Remove()
	others := w.Foreign().CoreV1().ConfigMaps(w.target)
	must := func(_ *corev1.ConfigMap, err error) { w.Must(err, "change a ConfigMap as somebody else") }
	mine := map[string]string{"mine": "yes"}

	w.Must(others.Delete(w.Context(), "replaced", metav1.DeleteOptions{}), "delete a copy as somebody else")
	must(others.Create(w.Context(), configMap("", "replaced", nil, mine), metav1.CreateOptions{}))
	taken := w.get("taken-over")
	taken.Labels = nil
	must(others.Update(w.Context(), taken, metav1.UpdateOptions{}))
	edited := w.get("edited")
	edited.Labels, edited.Data = nil, mine
	must(others.Update(w.Context(), edited, metav1.UpdateOptions{}))
	must(others.Create(w.Context(), configMap("", "appeared", nil, mine), metav1.CreateOptions{}))
	w.Must(others.Delete(w.Context(), "gone", metav1.DeleteOptions{}), "delete a copy as somebody else")

	w.Eventually(10*time.Second, testbed.Fail{Expected: "the events of these changes held back", See: levelPart},
		func(context.Context) (bool, string) { return held.Held() >= 6, plural(held.Held(), "event") })

	for _, late := range []struct{ what, name string }{
		{"a copy in the cache, without a source; somebody has deleted it since, and made a ConfigMap of their own of that name", "replaced"},
		{"a copy in the cache, without a source; somebody has made it their own since, by removing its label", "taken-over"},
		{"a copy in the cache that isn't up to date; somebody has made it their own since, and changed it", "edited"},
		{"no copy in the cache; somebody has made a ConfigMap of their own of that name since", "appeared"},
	} {
		was, mark := w.get(late.name), w.Traffic().Mark()
		err := w.sync(w.Context(), late.name)
		if now := w.get(late.name); now == nil || now.ResourceVersion != was.ResourceVersion {
			w.fail(late.what+": it is left alone, the API server refuses the request", describe(now))
		}
		if err == nil {
			w.fail(late.what+": the API server's refusal returned as an error, for the retry", "no error")
		}
		if sent := w.sentSince(mark); len(sent) != 1 {
			w.fail(late.what+": one try, which is refused, and no other request: the retry is the queue's", show(sent))
		}
	}
	if err := w.sync(w.Context(), "gone"); err != nil {
		w.fail("a copy in the cache, without a source, that is gone already: no error, there is nothing left to delete", fmt.Sprint(err))
	}
}

func (w *world) looksLike(name string, data, labels map[string]string) {
	got := w.get(name)
	if got == nil || !sharing.IsCopy(got, w.Namespace()) || !equality.Semantic.DeepEqual(got.Data, data) {
		w.fail(fmt.Sprintf("a copy %s with the data %v", name, data), describe(got))
	}
	for k, v := range labels {
		if got.Labels[k] != v || got.Annotations[k] != v {
			w.fail(fmt.Sprintf("the label and the annotation %s=%s that somebody put on the copy %s, still there", k, v, name), describe(got))
		}
	}
}

func (w *world) isGone(name string) {
	if got := w.get(name); got != nil {
		w.fail("no copy "+name+" any more", describe(got))
	}
}

// get reads a ConfigMap of the target, past the caches; nil if it isn't there.
func (w *world) get(name string) *corev1.ConfigMap {
	got, err := w.Admin().CoreV1().ConfigMaps(w.target).Get(w.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	w.Must(err, "look at a ConfigMap")
	return got
}

func (w *world) fail(expected, seen string) {
	w.Fail(testbed.Fail{Expected: expected, Seen: seen, See: levelPart})
}

func describe(cm *corev1.ConfigMap) string {
	if cm == nil {
		return "no ConfigMap"
	}
	return fmt.Sprintf("a ConfigMap %s with labels %v, annotations %v, data %v", cm.Name, cm.Labels, cm.Annotations, cm.Data)
}
