package informers_test

import (
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientinformers "k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"

	informers "github.com/controllings/controllings/chapters/02-informers"
	"github.com/controllings/controllings/testbed"
	"github.com/controllings/controllings/testbed/proxy"
)

var mapWrites = proxy.Match{Verb: proxy.Write, Resource: "configmaps"}

func TestCopiesLeaveTheCacheAlone(t *testing.T) {
	b := testbed.New(t)
	for _, name := range []string{"plain", "labelled", "twice", "changed", "refused"} {
		createMap(b, name, "1")
		if name != "plain" {
			changeMap(b, name, func(cm *corev1.ConfigMap) {
				cm.Labels = map[string]string{"team": "red", "empty": ""}
				cm.Annotations = map[string]string{"example.com/note": "keep"}
			})
		}
	}
	factory := clientinformers.NewSharedInformerFactoryWithOptions(b.Clientset(), 0, clientinformers.WithNamespace(b.Namespace()))
	settings := factory.Core().V1().ConfigMaps().Lister().ConfigMaps(b.Namespace())
	factory.StartWithContext(b.Context())
	b.Must(factory.WaitForCacheSyncWithContext(b.Context()).AsError(), "sync the check's own informer")

	// Nothing arrives any more, so whatever changes in the cache was changed here.
	held := b.Faults().Add(proxy.Rule{Match: mapWatches, Hold: true})
	defer held.Remove()

	labelled := expectLabelled(b, settings, "labelled", "blue")
	if labelled.Data["is"] != "labelled-1" || labelled.Annotations["example.com/note"] != "keep" || labelled.ResourceVersion == cachedMap(b, settings, "labelled").ResourceVersion {
		b.Fail(testbed.Fail{
			Expected: "SetLabel to return the ConfigMap as the API server stored it: new resourceVersion, label, data and annotation",
			Seen:     fmt.Sprintf("resourceVersion %q, labels %v, data %v, annotations %v", labelled.ResourceVersion, labelled.Labels, labelled.Data, labelled.Annotations),
			See:      sharedPart,
		})
	}
	expectLabelled(b, settings, "plain", "blue") // which has no labels at all
	expectNothingToDo(b, settings)
	expectTriedAgain(b, settings)
	expectOthersWord(b, settings)
	expectNoSuchMap(b, settings)
	expectSorted(b)
}

// setLabel calls SetLabel, and looks at the cache and at what was sent.
func setLabel(b *testbed.Bed, settings corelisters.ConfigMapNamespaceLister, name, label, value string, writes int) (*corev1.ConfigMap, error) {
	var cached, before *corev1.ConfigMap
	if cm, err := settings.Get(name); err == nil {
		cached, before = cm, cm.DeepCopy()
	}
	mark := b.Traffic().Mark()
	got, err := informers.SetLabel(b.Context(), b.Clientset(), settings, name, label, value)
	expectUntouched(b, "SetLabel", cached, before)
	window := b.Traffic().Since(mark)
	if n := window.Count(mapWrites); n != writes || len(window.Requests(proxy.Match{})) > n {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("%d requests to set the label %s=%s of ConfigMap %s, which has the labels %v in the cache", writes, label, value, name, labelsOf(before)),
			Seen:     fmt.Sprintf("%d writes and %d reads, and the error %v", n, len(window.Requests(proxy.Match{}))-n, err),
			See:      sharedPart,
		})
	}
	if err != nil {
		return nil, err
	}
	if got == nil {
		b.Fail(testbed.Fail{Expected: "a ConfigMap of SetLabel, when there is no error", Seen: "nil", See: sharedPart})
	}
	// The result is the caller's.
	kept := got.DeepCopy()
	metav1.SetMetaDataLabel(&got.ObjectMeta, "mine", "now")
	metav1.SetMetaDataAnnotation(&got.ObjectMeta, "mine", "now")
	if got.Data != nil {
		got.Data["mine"] = "now"
	}
	expectUntouched(b, "the caller of SetLabel, to whom the result belongs,", cached, before)
	return kept, nil
}

func labelsOf(cm *corev1.ConfigMap) map[string]string {
	if cm == nil {
		return nil
	}
	return cm.Labels
}

// expectUntouched compares an object of the cache with what it was.
func expectUntouched(b *testbed.Bed, who string, cached, before *corev1.ConfigMap) {
	if equality.Semantic.DeepEqual(cached, before) {
		return
	}
	b.Fail(testbed.Fail{
		Expected: fmt.Sprintf("the ConfigMap %s in the cache as it was, whatever %s does: labels %v, data %v", before.Name, who, before.Labels, before.Data),
		Seen:     fmt.Sprintf("the cache's own object changed: labels %v, data %v, resourceVersion %s (was %s)", cached.Labels, cached.Data, cached.ResourceVersion, before.ResourceVersion),
		See:      sharedPart,
	})
}

func expectLabelled(b *testbed.Bed, settings corelisters.ConfigMapNamespaceLister, name, value string) *corev1.ConfigMap {
	got, err := setLabel(b, settings, name, "team", value, 1)
	b.NoError(err, testbed.Fail{Expected: fmt.Sprintf("the label team=%s on ConfigMap %s", value, name), See: sharedPart})
	stored := storedMap(b, name)
	if stored.Labels["team"] != value || got.Labels["team"] != value || stored.Data["is"] != name+"-1" {
		b.Fail(testbed.Fail{
			Expected: fmt.Sprintf("the label team=%s on ConfigMap %s, and its data as they were", value, name),
			Seen:     fmt.Sprintf("at the API server the labels %v and the data %v, and the result with the labels %v", stored.Labels, stored.Data, got.Labels),
			See:      sharedPart,
		})
	}
	return got
}

// expectNothingToDo sets labels that are there, and one that is there in a way: an
// empty label is not a label that is missing.
func expectNothingToDo(b *testbed.Bed, settings corelisters.ConfigMapNamespaceLister) {
	for label, value := range map[string]string{"team": "red", "empty": ""} {
		got, err := setLabel(b, settings, "twice", label, value, 0)
		b.NoError(err, testbed.Fail{Expected: fmt.Sprintf("no error where the label %s=%s is there", label, value), See: sharedPart})
		if v, ok := got.Labels[label]; got.Name != "twice" || !ok || v != value {
			b.Fail(testbed.Fail{
				Expected: fmt.Sprintf("the ConfigMap twice, which has the label %s=%s", label, value),
				Seen:     fmt.Sprintf("ConfigMap %q with the labels %v", got.Name, got.Labels),
				See:      sharedPart,
			})
		}
	}
	_, err := setLabel(b, settings, "twice", "new", "", 1)
	b.NoError(err, testbed.Fail{Expected: "a label with an empty value set where there was none", See: sharedPart})
	if _, ok := storedMap(b, "twice").Labels["new"]; !ok {
		b.Fail(testbed.Fail{Expected: "a label with an empty value set where there was none", Seen: "no such label", See: sharedPart})
	}
}

// expectTriedAgain lets the first write fail. The cache still says that there is
// something to do, so the second call does it.
func expectTriedAgain(b *testbed.Bed, settings corelisters.ConfigMapNamespaceLister) {
	failing := b.Faults().Add(proxy.Rule{Match: mapWrites, Status: http.StatusInternalServerError, Times: 1})
	_, err := setLabel(b, settings, "refused", "team", "green", 1)
	failing.Remove()
	if err == nil {
		b.Fail(testbed.Fail{Expected: "the error of a write that failed with a 500", Seen: "no error", See: sharedPart})
	}
	expectLabelled(b, settings, "refused", "green")
}

// expectOthersWord lets somebody else write what hasn't arrived yet.
func expectOthersWord(b *testbed.Bed, settings corelisters.ConfigMapNamespaceLister) {
	changeMap(b, "changed", func(cm *corev1.ConfigMap) {
		cm.Data["theirs"] = "new"
		cm.Labels["theirs"] = "new"
	})
	_, err := setLabel(b, settings, "changed", "team", "blue", 1)
	stored := storedMap(b, "changed")
	if stored.Data["theirs"] != "new" || stored.Labels["theirs"] != "new" {
		b.Fail(testbed.Fail{
			Expected: "what somebody else has written since to be there still: label and data theirs=new",
			Seen:     fmt.Sprintf("the labels %v and the data %v, and the error %v", stored.Labels, stored.Data, err),
			See:      sharedPart,
		})
	}
	if err != nil && !apierrors.IsConflict(err) || err == nil && stored.Labels["team"] != "blue" {
		b.Fail(testbed.Fail{
			Expected: "the label set, or a Conflict, where the ConfigMap was changed since",
			Seen:     fmt.Sprintf("the labels %v, and the error %v", stored.Labels, err),
			See:      sharedPart,
		})
	}
}

func expectNoSuchMap(b *testbed.Bed, settings corelisters.ConfigMapNamespaceLister) {
	createMap(b, "unheard-of", "1") // its event is held
	_, err := setLabel(b, settings, "unheard-of", "team", "blue", 0)
	if !apierrors.IsNotFound(err) {
		b.Fail(testbed.Fail{
			Expected: "a NotFound for a ConfigMap that the lister doesn't have",
			Seen:     fmt.Sprintf("the error %v", err),
			See:      sharedPart,
		})
	}
}

func cachedMap(b *testbed.Bed, settings corelisters.ConfigMapNamespaceLister, name string) *corev1.ConfigMap {
	cm, err := settings.Get(name)
	b.Must(err, "read from the check's own lister")
	return cm
}

func storedMap(b *testbed.Bed, name string) *corev1.ConfigMap {
	cm, err := b.Admin().CoreV1().ConfigMaps(b.Namespace()).Get(b.Context(), name, metav1.GetOptions{})
	b.Must(err, "read a ConfigMap")
	return cm
}

// expectSorted hands a Pod to ContainersByName.
func expectSorted(b *testbed.Bed) {
	pod := newPod("web", "web")
	pod.Spec.Containers = []corev1.Container{
		{Name: "proxy", Env: []corev1.EnvVar{{Name: "COLOUR", Value: "blue"}}},
		{Name: "app", Args: []string{"serve"}, Env: []corev1.EnvVar{{Name: "COLOUR", Value: "red"}}},
		{Name: "metrics", Ports: []corev1.ContainerPort{{ContainerPort: 9090}}},
	}
	before := pod.DeepCopy()
	got := informers.ContainersByName(pod)
	var names []string
	for _, c := range got {
		names = append(names, c.Name)
	}
	f := testbed.Fail{
		Expected: "the Pod that ContainersByName was given as it was: containers " + containers(before),
		See:      sharedPart,
	}
	if !equality.Semantic.DeepEqual(pod, before) {
		f.Seen = "its containers are " + containers(pod)
		b.Fail(f)
	}
	if fmt.Sprint(names) != "[app metrics proxy]" || !equality.Semantic.DeepEqual(got[0], before.Spec.Containers[1]) {
		b.Fail(testbed.Fail{
			Expected: "the containers in the order of their names, whole: app, metrics, proxy",
			Seen:     orNothing(names),
			See:      sharedPart,
		})
	}
	got[0].Args[0] = "migrate"
	got[0].Env[0].Value = "green"
	got[1].Ports[0].ContainerPort = 1
	got[2].Image = "registry.example/other:1"
	if !equality.Semantic.DeepEqual(pod, before) {
		b.Fail(testbed.Fail{
			Expected: "the result of ContainersByName to be its caller's, to change at will, and the Pod to stay as it is",
			Seen:     "what the caller changed in the result has changed in the Pod: " + containers(pod),
			See:      sharedPart,
		})
	}
}

func containers(pod *corev1.Pod) string {
	var list []string
	for _, c := range pod.Spec.Containers {
		list = append(list, fmt.Sprintf("%s %v %v", c.Name, c.Args, c.Env))
	}
	return orNothing(list)
}
