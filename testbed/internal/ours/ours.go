// Package ours tells what on a cluster is the course's, and takes it away again.
//
// On somebody else's cluster that is all the difference: whatever lacks the
// label is never changed and never deleted. The testbed, which makes these
// things, and the program guest, which clears them away, both go by this
// package.
package ours

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// How the course's things are known.
const (
	Label = "app.kubernetes.io/managed-by"
	Value = "controllings-testbed"

	// HeartbeatAnnotation is of a namespace: when its check was last seen
	// running, RFC 3339, by the clock of the check's machine.
	HeartbeatAnnotation = "testbed.example.com/heartbeat"
	// HomeAnnotation is of a namespace: for which LAB_HOME it was made. See Home.
	HomeAnnotation = "testbed.example.com/home"

	// NamespacePrefix begins the name of each bed, a check's own namespace.
	NamespacePrefix = "bed-"
	// SharedPrefix begins the name of each namespace that checks share.
	SharedPrefix = "shared-"
	// GroupSuffix ends the API group of each CustomResourceDefinition.
	GroupSuffix = ".example.com"

	// HeartbeatPeriod is how often a running check renews the heartbeat.
	HeartbeatPeriod = 30 * time.Second
	// StaleAfter is how old a heartbeat may be: ten missed ones, so that a
	// laptop's nap between two of them kills nobody's bed.
	StaleAfter = 10 * HeartbeatPeriod
	// SharedStale is how long a shared namespace is kept after its last use.
	SharedStale = 24 * time.Hour
)

// CRDs is where custom types are kept.
var CRDs = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// Selector selects what bears the label.
const Selector = Label + "=" + Value

// Labelled reports whether an object bears the label.
func Labelled(o metav1.Object) bool { return o.GetLabels()[Label] == Value }

// Namespace reports whether a namespace was made for checks.
func Namespace(ns metav1.Object) bool {
	return Labelled(ns) && (strings.HasPrefix(ns.GetName(), NamespacePrefix) || Shared(ns))
}

// Shared reports whether a namespace was made for several checks to read.
func Shared(ns metav1.Object) bool {
	return Labelled(ns) && strings.HasPrefix(ns.GetName(), SharedPrefix)
}

// CRDName reports whether a type of this name ("widgets.shop.example.com") may
// be the course's.
func CRDName(name string) bool {
	_, group, _ := strings.Cut(name, ".")
	return strings.HasSuffix("."+group, GroupSuffix)
}

// Stale reports whether nobody uses a namespace of ours any more. One that is
// being deleted is given some time before its finalizers are looked at.
func Stale(ns metav1.Object, now time.Time) bool {
	if !Namespace(ns) {
		return false
	}
	limit := StaleAfter
	deleted := ns.GetDeletionTimestamp()
	if Shared(ns) && deleted == nil {
		limit = SharedStale // it has no heartbeat but its uses
	}
	last, err := time.Parse(time.RFC3339, ns.GetAnnotations()[HeartbeatAnnotation])
	if err != nil {
		last = ns.GetCreationTimestamp().Time
	}
	if deleted != nil && deleted.After(last) {
		last = deleted.Time
	}
	return now.Sub(last) > limit
}

// Home names a LAB_HOME without telling which machine and folder it is: several
// learners may share a cluster, and each clears away only what is their own.
func Home(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("name the lab's home: %w", err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("name the lab's home: %w", err)
	}
	sum := sha256.Sum256([]byte(host + "\x00" + dir))
	return hex.EncodeToString(sum[:8]), nil
}
