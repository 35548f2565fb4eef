package informers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// WatchReady tells which Pods of an app are ready. It calls ready with the name of
// each Pod that has the condition Ready, also of those that had it before, and
// unready when such a Pod no longer has it, no longer belongs to the selection, or
// is gone; one that is being deleted is still there. Of one Pod the two take turns,
// beginning with ready; what else changes about it is not told.
//
// The API server does what selecting it can: it sends the Pods in phase Running
// that carry the label app=<app>, and no others. An app that can't be a label's
// value is an error.
//
// WatchReady returns when the calls for all Pods that were ready have returned, and
// goes on telling until ctx ends. When ctx ends before, the error wraps the cause of
// that (context.Cause).
func WatchReady(ctx context.Context, client kubernetes.Interface, namespace, app string, ready, unready func(name string)) error {
	ofApp, err := labels.ValidatedSelectorFromSet(labels.Set{"app": app})
	if err != nil {
		return fmt.Errorf("select the Pods of app %q: %w", app, err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.LabelSelector = ofApp.String()
			o.FieldSelector = fields.OneTermEqualSelector("status.phase", string(corev1.PodRunning)).String()
		}))
	handler, err := factory.Core().V1().Pods().TypedInformer().AddTypedEventHandler(coreinformers.PodFilteringHandler{
		FilterFunc: isReady,
		Handler: coreinformers.PodHandlerFuncs{
			AddFunc:    func(pod *corev1.Pod) { ready(pod.Name) },
			DeleteFunc: func(pod coreinformers.DeletedPod) { unready(pod.GetName()) },
		},
	})
	if err != nil {
		return fmt.Errorf("watch the Pods of app %q: %w", app, err)
	}
	if err := startAndSync(ctx, factory); err != nil {
		return fmt.Errorf("watch the Pods of app %q: %w", app, err)
	}
	return handled(ctx, handler)
}

func isReady(pod *corev1.Pod) bool {
	if pod == nil {
		return false // of a Pod that is gone, and was in no copy
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// handled waits until a handler has been called for all that was there when its
// informer had synced. The informer's own sync says that the copy is whole, and
// nothing of its handlers.
func handled(ctx context.Context, handler cache.ResourceEventHandlerRegistration) error {
	if !cache.WaitFor(ctx, "", handler.HasSyncedChecker()) {
		return fmt.Errorf("wait for the handler: %w", context.Cause(ctx))
	}
	return nil
}
