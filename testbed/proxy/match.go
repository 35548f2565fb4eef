package proxy

import (
	"slices"
	"strings"
)

// Match chooses requests. A field that is "" matches any; None matches a request
// that has nothing there.
type Match struct {
	// Verb is one of Request.Verb's, or Read, or Write.
	Verb string
	// Group None is the core group.
	Group string
	// Resource is the plural, in small letters: "pods". None matches paths that
	// are about no resource.
	Resource string
	// Subresource None leaves out pods/status, pods/log and the like.
	Subresource string
	// Namespace None matches requests over all namespaces.
	Namespace string
	// Name None matches lists, and creates.
	Name string
	// Client is the name of one process of several; None is the check's own.
	Client string
	// UserAgent matches any user agent that contains it.
	UserAgent string
	// Query names parameters that must be there, with these very values. A value
	// of "" matches any, None wants the parameter absent or empty.
	Query map[string]string
}

// What a Match may say beside plain values.
const (
	None  = "-"     // in any field: nothing there
	Read  = "read"  // as a Verb: get, list or watch
	Write = "write" // as a Verb: create, update, patch, delete or deletecollection
)

var (
	reads  = []string{"get", "list", "watch"}
	writes = []string{"create", "update", "patch", "delete", "deletecollection"}
)

// Matches reports whether r is one of the requests that m chooses.
func (m Match) Matches(r Request) bool {
	switch m.Verb {
	case "", r.Verb:
	case Read:
		if r.Resource == "" || !slices.Contains(reads, r.Verb) {
			return false
		}
	case Write:
		if r.Resource == "" || !slices.Contains(writes, r.Verb) {
			return false
		}
	default:
		return false
	}
	for _, f := range []struct{ want, have string }{
		{m.Resource, r.Resource},
		{m.Subresource, r.Subresource},
		{m.Namespace, r.Namespace},
		{m.Name, r.Name},
		{m.Client, r.Client},
	} {
		if !matches(f.want, f.have) {
			return false
		}
	}
	// A path such as /version has no group at all, not the core group.
	if m.Group != "" && (r.Resource == "" || !matches(m.Group, r.Group)) {
		return false
	}
	if m.UserAgent == None && r.UserAgent != "" ||
		m.UserAgent != None && !strings.Contains(r.UserAgent, m.UserAgent) {
		return false
	}
	for key, want := range m.Query {
		have, ok := r.Query.Get(key), r.Query.Has(key)
		if want == "" && !ok || !matches(want, have) {
			return false
		}
	}
	return true
}

func matches(want, have string) bool {
	switch want {
	case "":
		return true
	case None:
		return have == ""
	default:
		return want == have
	}
}
