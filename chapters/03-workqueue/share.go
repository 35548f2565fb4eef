package sharing

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// What people and this controller write on ConfigMaps.
const (
	// LabelShared, with the value "true", lets a ConfigMap of the source namespace
	// be copied.
	LabelShared = "share.example.com/shared"
	// LabelRequest, with the value "true", makes a ConfigMap of another namespace
	// a request: its data says what that namespace wants. See RequestOf.
	LabelRequest = "share.example.com/request"
	// LabelCopyOf is on each copy. Its value is the source namespace; the name is
	// the copy's own. What lacks it is somebody else's.
	LabelCopyOf = "share.example.com/copy-of"
)

// Key names a copy: the namespace that it is in, or should be in, and its name,
// which is its source's name too.
type Key = cache.ObjectName

// Queue is what keys wait in.
type Queue = workqueue.TypedRateLimitingInterface[Key]

// Request is what a namespace asks for.
type Request struct {
	Source string    // the name of a ConfigMap of the source namespace
	Until  time.Time // when the request ends; zero is never
}

// RequestOf reads a request:
//
//	metadata: {name: any-name, labels: {share.example.com/request: "true"}}
//	data:     {source: "settings", until: "2030-01-01T00:00:00Z"}
//
// until may be left out. ok is false for a ConfigMap that is no request.
func RequestOf(cm *corev1.ConfigMap) (r Request, ok bool) {
	if cm.Labels[LabelRequest] != "true" || cm.Data["source"] == "" {
		return Request{}, false
	}
	until, err := time.Parse(time.RFC3339, cm.Data["until"])
	if err != nil {
		until = time.Time{} // an end that can't be read is none
	}
	return Request{Source: cm.Data["source"], Until: until}, true
}

// Ended says whether the request no longer counts.
func (r Request) Ended(now time.Time) bool {
	return !r.Until.IsZero() && !now.Before(r.Until)
}

// IsCopy says whether this controller made the ConfigMap: that of another source
// namespace may be at work in the same cluster.
func IsCopy(cm *corev1.ConfigMap, source string) bool {
	return cm.Labels[LabelCopyOf] == source
}

// NewCopy is the copy as it should be, for a namespace.
func NewCopy(of *corev1.ConfigMap, namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      of.Name,
			Labels:    map[string]string{LabelCopyOf: of.Namespace},
		},
		Data:       maps.Clone(of.Data),
		BinaryData: maps.Clone(of.BinaryData),
	}
}
