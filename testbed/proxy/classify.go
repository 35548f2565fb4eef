package proxy

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
)

// attributes are what a request is about, in the words in which the API server
// authorizes it.
type attributes struct {
	verb, group, version, resource, subresource, namespace, name string
}

// classify tells from method, path and query what a request is about, by the
// rules of the API server (RequestInfo in k8s.io/apiserver): the same GET is a
// get with a name, and without one a list, or a watch where the query says so.
//
// A path that is about no resource (/version, /apis, /readyz) keeps the HTTP
// method in small letters as its verb, and has no resource.
func classify(method, path string, query url.Values) attributes {
	nonResource := attributes{verb: strings.ToLower(method)}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) < 3 {
		return nonResource
	}
	var a attributes
	switch parts[0] {
	case "api": // the core group has no name
		parts = parts[1:]
	case "apis":
		if len(parts) < 4 {
			return nonResource
		}
		a.group = parts[1]
		parts = parts[2:]
	default:
		return nonResource
	}
	a.version, parts = parts[0], parts[1:]

	// The old form of a watch, /api/v1/watch/pods, has its verb in the path.
	byPath := parts[0] == "watch" || parts[0] == "proxy"
	if byPath {
		a.verb = parts[0]
		if parts = parts[1:]; len(parts) == 0 {
			return a
		}
	} else {
		a.verb = verbs[method]
	}

	if parts[0] == "namespaces" && len(parts) > 1 {
		a.namespace = parts[1]
		// namespaces/x/pods is about pods, namespaces/x/status about x itself.
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			parts = parts[2:]
		}
	}
	a.resource = parts[0]
	if len(parts) > 1 {
		a.name = parts[1]
	}
	if len(parts) > 2 && !byPath {
		a.subresource = parts[2]
	}

	if a.name == "" {
		switch a.verb {
		case "get":
			a.verb = "list"
			if isTrue(query, "watch") {
				a.verb = "watch"
			}
			a.name = nameIn(query.Get("fieldSelector"))
		case "delete":
			a.verb = "deletecollection"
		}
	}
	return a
}

var verbs = map[string]string{
	http.MethodGet:    "get",
	http.MethodHead:   "get",
	http.MethodPost:   "create",
	http.MethodPut:    "update",
	http.MethodPatch:  "patch",
	http.MethodDelete: "delete",
}

// isTrue reads a query's flag as the API server does: only its absence, "0" and
// "false" mean no.
func isTrue(query url.Values, key string) bool {
	values := query[key]
	return len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false")
}

// nameIn returns the name that a field selector such as metadata.name=x asks
// for: a list or watch of one object is authorized by that name.
func nameIn(fieldSelector string) string {
	if fieldSelector == "" {
		return ""
	}
	selector, err := fields.ParseSelector(fieldSelector)
	if err != nil {
		return ""
	}
	name, _ := selector.RequiresExactMatch("metadata.name")
	return name
}
