package sharing_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
	"github.com/controllings/controllings/testbed"
)

const keysPart = "README.md#keys"

type handler = cache.TypedResourceEventHandler[*corev1.ConfigMap]

func TestEventsBecomeKeys(t *testing.T) {
	b := testbed.New(t)

	settings := shared("source", "settings", nil)
	closed := configMap("source", "settings", nil, nil) // not shared
	plain := configMap("a", "notes", nil, nil)
	wish := request("a", "wish", "settings")
	otherWish := request("a", "wish", "colours")
	noWish := configMap("a", "wish", nil, nil)
	strange := request("source", "wish", "settings")

	everywhere := []sharing.Key{{Namespace: "a", Name: "settings"}, {Namespace: "b", Name: "settings"}}
	for _, event := range []struct {
		what string
		send func(handler)
		must []sharing.Key
		may  []sharing.Key // beside those
	}{
		{"a new source", add(settings), everywhere, nil},
		{"a changed source", update(settings, shared("source", "settings", map[string]string{"a": "b"})), everywhere, nil},
		{"a source that is no longer shared", update(settings, closed), everywhere, nil},
		{"a source that is shared from now on", update(closed, settings), everywhere, nil},
		{"a deleted source", remove(settings), everywhere, nil},
		{"a deleted source of which no more than the name is known", removeUnseen(settings, nil), everywhere, nil},
		{"a ConfigMap of the source namespace that isn't shared", add(closed), nil, everywhere},
		{"a new ConfigMap of a target", add(plain), []sharing.Key{key("notes")}, nil},
		{"a changed copy", update(sharing.NewCopy(settings, "a"), sharing.NewCopy(settings, "a")), []sharing.Key{key("settings")}, nil},
		{"a deleted copy", remove(sharing.NewCopy(settings, "a")), []sharing.Key{key("settings")}, nil},
		{"a ConfigMap of a target that is deleted and frees its name", remove(plain), []sharing.Key{key("notes")}, nil},
		{"a new request", add(wish), []sharing.Key{key("settings"), key("wish")}, nil},
		{"a request that is the same as before", resync(wish), nil, []sharing.Key{key("settings"), key("wish")}},
		{"a request that asks for something else than before", update(wish, otherWish), []sharing.Key{key("colours"), key("settings"), key("wish")}, nil},
		{"a request that is none any more", update(wish, noWish), []sharing.Key{key("settings"), key("wish")}, nil},
		{"a deleted request", remove(wish), []sharing.Key{key("settings"), key("wish")}, nil},
		{"a deleted request in the state that was last seen", removeUnseen(wish, wish), []sharing.Key{key("settings"), key("wish")}, nil},
		{"a deleted ConfigMap of a target of which no more than the name is known", removeUnseen(wish, nil), []sharing.Key{key("wish")}, nil},
		{"a ConfigMap of some other namespace", add(request("elsewhere", "wish", "settings")), nil, nil},
		{"a deleted ConfigMap of some other namespace", remove(shared("elsewhere", "settings", nil)), nil, nil},
		{"a request in the source namespace", add(strange), nil, []sharing.Key{{Namespace: "a", Name: "wish"}, {Namespace: "b", Name: "wish"}}},
	} {
		queue := newLedger(workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[sharing.Key](time.Hour, time.Hour)))
		event.send(sharing.Handler("source", []string{"a", "b"}, queue))
		queue.ShutDown()
		expectKeys(b, event.what, queue, event.must, event.may)
	}

	for _, cm := range []*corev1.ConfigMap{settings, wish} {
		was := cm.DeepCopy()
		h := sharing.Handler("source", []string{"a", "b"}, newLedger(workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[sharing.Key](time.Hour, time.Hour))))
		h.OnAdd(cm, true)
		if !equality.Semantic.DeepEqual(was, cm) {
			b.Fail(testbed.Fail{
				Expected: "the object of the event as it was: it belongs to the cache",
				Seen:     "a changed ConfigMap " + cm.Name,
				See:      keysPart,
			})
		}
	}
}

// expectKeys compares the keys that were added with those that must and may be.
func expectKeys(b *testbed.Bed, what string, queue *ledger, must, may []sharing.Key) {
	if queue.later > 0 {
		b.Fail(testbed.Fail{
			Expected: "the keys of " + what + " added at once: an event is no failure, and nothing to wait for",
			Seen:     plural(queue.later, "key") + " added for later",
			See:      keysPart,
		})
	}
	var missing, wrong []sharing.Key
	for _, k := range must {
		if !slices.Contains(queue.added, k) {
			missing = append(missing, k)
		}
	}
	for _, k := range queue.added {
		if !slices.Contains(must, k) && !slices.Contains(may, k) {
			wrong = append(wrong, k)
		}
	}
	if len(missing) == 0 && len(wrong) == 0 {
		return
	}
	seen := keys(queue.added)
	if len(missing) > 0 {
		seen += "; not in the queue: " + keys(missing)
	}
	if len(wrong) > 0 {
		seen += "; not about this event: " + keys(wrong)
	}
	b.Fail(testbed.Fail{
		Expected: "after " + what + ": " + keys(must) + " in the queue (sources in namespace source, targets a and b)",
		Seen:     seen,
		See:      keysPart,
	})
}

func add(cm *corev1.ConfigMap) func(handler) {
	return func(h handler) { h.OnAdd(cm, true) }
}

// update is a change, which gives an object another resourceVersion.
func update(before, after *corev1.ConfigMap) func(handler) {
	before, after = before.DeepCopy(), after.DeepCopy()
	before.ResourceVersion, after.ResourceVersion = "1", "2"
	return func(h handler) { h.OnUpdate(before, after) }
}

// resync is an update without a change.
func resync(cm *corev1.ConfigMap) func(handler) {
	return func(h handler) { h.OnUpdate(cm, cm) }
}

func remove(cm *corev1.ConfigMap) func(handler) {
	return func(h handler) { h.OnDelete(cache.DeletedObject[*corev1.ConfigMap]{OptionalObj: cm}) }
}

// removeUnseen is a deletion that nobody told of: a new list lacks the object, and
// known is what the cache had, or nil.
func removeUnseen(cm, known *corev1.ConfigMap) func(handler) {
	unknown := &cache.DeletedFinalStateUnknown{Key: cache.MetaObjectToName(cm).String(), Obj: known}
	return func(h handler) {
		h.OnDelete(cache.DeletedObject[*corev1.ConfigMap]{OptionalObj: known, FinalStateUnknown: unknown})
	}
}
