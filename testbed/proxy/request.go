package proxy

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Request is one request of the learner's code, as the proxy saw it.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or
	// deletecollection. For a path that is about no resource, such as /version,
	// it is the HTTP method in small letters, and Resource is "".
	Verb string
	// Group is "" for the core group (Pods, ConfigMaps).
	Group, Version, Resource, Subresource string
	// Namespace is "" for a request over all namespaces.
	Namespace string
	// Name is "" for a list, and for a create: the name is in the body then.
	Name string

	// Method and Path are the HTTP request's own; Query is what stands behind
	// the question mark, decoded.
	Method, Path string
	Query        url.Values

	// Client is the name that the proxy gave out with the token (ConfigOf); "" for
	// the check's own process, and for a request without a token.
	Client    string
	UserAgent string
	// ContentType is that of the body: it tells a merge patch from an apply.
	ContentType string
	// Caller is the place in the learner's code that sent the request, such as
	// "/…/clientset.go:41", or "" where it isn't known: in another process, or in
	// a goroutine of client-go such as an informer's.
	Caller string

	// Body is what a write sent, at most 64 KiB of it; typed clients send
	// protobuf unless told otherwise. BodyCut says that there was more.
	Body    []byte
	BodyCut bool

	Start time.Time
	// Duration is how long the answer took, to its last byte. While Done is
	// false, it is the time until now.
	Duration time.Duration
	// Done is false while the answer is under way: a watch stays so for long.
	Done bool
	// Status is the HTTP status of the answer; 0 as long as there is none.
	Status int
	// Bytes is the length of the answer's body so far. The proxy asks the API
	// server for no compression, so it is the size of the objects.
	Bytes int64
	// Fault says that a rule of the check gave the answer, broke it off or wrote
	// into it. A rule that made it late has left it as it was, see Late.
	Fault bool
	// Late says how a rule of the check keeps, or kept, the request or its events
	// waiting, such as "held 2s by the check", or is "".
	Late string
	// Reason stands in an answer that the proxy gave itself, as for a Fault; ""
	// for the API server's answers, which it passes on unread.
	Reason metav1.StatusReason
	// Err says what ended the request before its time, such as "closed
	// by the client" or "connection dropped by the check", or is "".
	Err string
}

// String shows the request on one line:
//
//	GET /api/v1/namespaces/bed-x7k2p/pods?limit=500   200  61 KB  clientset.go:41
func (r Request) String() string {
	s := r.URI() + "   " + r.outcome()
	if r.Client != "" {
		s += "  from " + r.Client
	}
	if r.Caller != "" {
		s += "  " + path.Base(filepath.ToSlash(r.Caller))
	}
	return s
}

// URI shows method, path and query, for a person: nothing is escaped, and long
// values such as a continue token are cut.
func (r Request) URI() string {
	var q []string
	for _, key := range sortedKeys(r.Query) {
		for _, v := range r.Query[key] {
			limit := 48
			if key == "continue" {
				limit = 10 // enough to tell two apart
			}
			q = append(q, key+"="+short(v, limit))
		}
	}
	s := r.Method + " " + r.Path
	if len(q) > 0 {
		s += "?" + strings.Join(q, "&")
	}
	return s
}

func (r Request) outcome() string {
	var parts []string
	switch {
	case r.Status != 0:
		parts = append(parts, strings.TrimSpace(fmt.Sprint(r.Status, " ", r.Reason)))
	case r.Done:
		parts = append(parts, "no answer")
	default:
		parts = append(parts, "no answer yet")
	}
	if r.Fault && r.Err == "" {
		parts = append(parts, "put in by the check")
	} else if r.Status != 0 {
		parts = append(parts, size(r.Bytes))
	}
	if r.Late != "" {
		parts = append(parts, r.Late)
	}
	switch {
	case r.Err != "":
		parts = append(parts, r.Err)
	case !r.Done && r.Status != 0:
		parts = append(parts, "open")
	}
	return strings.Join(parts, "  ")
}

// size is a number of bytes for a person, in the units of a kilobyte of 1000.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	case n < 1_000_000:
		return fmt.Sprintf("%d KB", n/1000)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}

func short(s string, max int) string {
	if r := []rune(s); len(r) > max {
		return string(r[:max]) + "…"
	}
	return s
}

func sortedKeys(q url.Values) []string {
	keys := make([]string, 0, len(q))
	for k := range q {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
