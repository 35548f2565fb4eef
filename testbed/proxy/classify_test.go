package proxy

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestClassify(t *testing.T) {
	const apps = "/apis/apps/v1/namespaces/ns/deployments"
	for _, tc := range []struct {
		method, uri string
		want        attributes
	}{
		{"GET", "/api/v1/namespaces/ns/pods", attributes{verb: "list", version: "v1", resource: "pods", namespace: "ns"}},
		{"GET", "/api/v1/pods", attributes{verb: "list", version: "v1", resource: "pods"}},
		{"GET", "/api/v1/namespaces/ns/pods/p", attributes{verb: "get", version: "v1", resource: "pods", namespace: "ns", name: "p"}},
		{"HEAD", "/api/v1/namespaces/ns/pods/p", attributes{verb: "get", version: "v1", resource: "pods", namespace: "ns", name: "p"}},
		{"GET", "/api/v1/namespaces/ns/pods/p/log?follow=true", attributes{verb: "get", version: "v1", resource: "pods", subresource: "log", namespace: "ns", name: "p"}},
		{"GET", apps, attributes{verb: "list", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		{"GET", apps + "?limit=500", attributes{verb: "list", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		{"GET", apps + "?watch=true", attributes{verb: "watch", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		{"GET", apps + "?watch=1", attributes{verb: "watch", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		{"GET", apps + "?watch", attributes{verb: "watch", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		{"GET", apps + "?watch=False", attributes{verb: "list", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		{"GET", apps + "?watch=0", attributes{verb: "list", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		{"GET", apps + "?watch=true&fieldSelector=metadata.name%3Dd", attributes{verb: "watch", group: "apps", version: "v1", resource: "deployments", namespace: "ns", name: "d"}},
		{"GET", apps + "?fieldSelector=metadata.namespace%3Dns", attributes{verb: "list", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		{"GET", apps + "?fieldSelector=%3D%3D%3D", attributes{verb: "list", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		// With a name in the path it is a get, whatever the query says.
		{"GET", apps + "/d?watch=true", attributes{verb: "get", group: "apps", version: "v1", resource: "deployments", namespace: "ns", name: "d"}},
		{"GET", "/api/v1/watch/namespaces/ns/pods", attributes{verb: "watch", version: "v1", resource: "pods", namespace: "ns"}},
		{"GET", "/api/v1/watch/pods", attributes{verb: "watch", version: "v1", resource: "pods"}},
		{"GET", "/apis/apps/v1/watch/namespaces/ns/deployments/d", attributes{verb: "watch", group: "apps", version: "v1", resource: "deployments", namespace: "ns", name: "d"}},
		{"POST", apps, attributes{verb: "create", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		{"PUT", apps + "/d", attributes{verb: "update", group: "apps", version: "v1", resource: "deployments", namespace: "ns", name: "d"}},
		{"PUT", apps + "/d/status", attributes{verb: "update", group: "apps", version: "v1", resource: "deployments", subresource: "status", namespace: "ns", name: "d"}},
		{"PATCH", apps + "/d", attributes{verb: "patch", group: "apps", version: "v1", resource: "deployments", namespace: "ns", name: "d"}},
		{"PATCH", apps + "/d/scale", attributes{verb: "patch", group: "apps", version: "v1", resource: "deployments", subresource: "scale", namespace: "ns", name: "d"}},
		{"DELETE", apps + "/d", attributes{verb: "delete", group: "apps", version: "v1", resource: "deployments", namespace: "ns", name: "d"}},
		{"DELETE", apps, attributes{verb: "deletecollection", group: "apps", version: "v1", resource: "deployments", namespace: "ns"}},
		{"POST", "/api/v1/namespaces/ns/pods/p/eviction", attributes{verb: "create", version: "v1", resource: "pods", subresource: "eviction", namespace: "ns", name: "p"}},
		{"GET", "/api/v1/nodes/n", attributes{verb: "get", version: "v1", resource: "nodes", name: "n"}},
		{"GET", "/api/v1/namespaces", attributes{verb: "list", version: "v1", resource: "namespaces"}},
		{"POST", "/api/v1/namespaces", attributes{verb: "create", version: "v1", resource: "namespaces"}},
		{"GET", "/api/v1/namespaces/ns", attributes{verb: "get", version: "v1", resource: "namespaces", namespace: "ns", name: "ns"}},
		{"PUT", "/api/v1/namespaces/ns/finalize", attributes{verb: "update", version: "v1", resource: "namespaces", subresource: "finalize", namespace: "ns", name: "ns"}},
		{"GET", "/apis/example.com/v1alpha1/namespaces/ns/webapps/w", attributes{verb: "get", group: "example.com", version: "v1alpha1", resource: "webapps", namespace: "ns", name: "w"}},
		{"GET", "/apis/example.com/v1alpha1/namespaces/ns/webapps/w/", attributes{verb: "get", group: "example.com", version: "v1alpha1", resource: "webapps", namespace: "ns", name: "w"}},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", attributes{verb: "create", group: "authorization.k8s.io", version: "v1", resource: "selfsubjectaccessreviews"}},
		{"TRACE", "/api/v1/pods", attributes{version: "v1", resource: "pods"}},

		{"GET", "/", attributes{verb: "get"}},
		{"GET", "/version", attributes{verb: "get"}},
		{"GET", "/api", attributes{verb: "get"}},
		{"GET", "/api/v1", attributes{verb: "get"}},
		{"GET", "/apis", attributes{verb: "get"}},
		{"GET", "/apis/apps", attributes{verb: "get"}},
		{"GET", "/apis/apps/v1", attributes{verb: "get"}},
		{"GET", "/openapi/v3/apis/apps/v1", attributes{verb: "get"}},
		{"POST", "/readyz/etcd/x", attributes{verb: "post"}},
		{"GET", "/api/v1/watch", attributes{verb: "watch", version: "v1"}},
	} {
		t.Run(tc.method+" "+tc.uri, func(t *testing.T) {
			u, err := url.Parse(tc.uri)
			require.NoError(t, err)
			assert.Equal(t, tc.want, classify(tc.method, u.Path, u.Query()))
		})
	}
}

func TestMatch(t *testing.T) {
	list := Request{Verb: "list", Version: "v1", Resource: "pods", Namespace: "ns",
		UserAgent: "clientset.test/v0.0.0 (linux/amd64)", Query: url.Values{"limit": {"500"}, "continue": {""}}}
	status := Request{Verb: "update", Group: "apps", Version: "v1", Resource: "deployments", Subresource: "status", Namespace: "ns", Name: "d"}
	version := Request{Verb: "get"}
	all := map[string]Request{"list": list, "status": status, "version": version}

	for _, tc := range []struct {
		name  string
		match Match
		want  []string
	}{
		{"anything", Match{}, []string{"list", "status", "version"}},
		{"verb", Match{Verb: "list"}, []string{"list"}},
		{"verb get", Match{Verb: "get"}, []string{"version"}},
		{"reads", Match{Verb: Read}, []string{"list"}},
		{"writes", Match{Verb: Write}, []string{"status"}},
		{"group", Match{Group: "apps"}, []string{"status"}},
		{"the core group", Match{Group: None}, []string{"list"}},
		{"resource", Match{Resource: "pods"}, []string{"list"}},
		{"no resource", Match{Resource: None}, []string{"version"}},
		{"subresource", Match{Subresource: "status"}, []string{"status"}},
		{"no subresource", Match{Subresource: None}, []string{"list", "version"}},
		{"namespace", Match{Namespace: "ns"}, []string{"list", "status"}},
		{"another namespace", Match{Namespace: "n"}, nil},
		{"name", Match{Name: "d"}, []string{"status"}},
		{"no name", Match{Name: None}, []string{"list", "version"}},
		{"user agent", Match{UserAgent: "clientset.test"}, []string{"list"}},
		{"no user agent", Match{UserAgent: None}, []string{"status", "version"}},
		{"query", Match{Query: map[string]string{"limit": "500"}}, []string{"list"}},
		{"another value", Match{Query: map[string]string{"limit": "50"}}, nil},
		{"any value", Match{Query: map[string]string{"limit": ""}}, []string{"list"}},
		{"absent", Match{Query: map[string]string{"limit": None}}, []string{"status", "version"}},
		{"empty", Match{Query: map[string]string{"continue": None}}, []string{"list", "status", "version"}},
		{"both", Match{Verb: "list", Resource: "deployments"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, name := range []string{"list", "status", "version"} {
				if tc.match.Matches(all[name]) {
					got = append(got, name)
				}
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestRequestString(t *testing.T) {
	r := Request{Method: http.MethodGet, Path: "/api/v1/namespaces/bed-x7k2p/pods", Query: url.Values{"limit": {"500"}, "labelSelector": {"app=web,tier in (a,b)"}}}
	assert.Equal(t, "GET /api/v1/namespaces/bed-x7k2p/pods?labelSelector=app=web,tier in (a,b)&limit=500   no answer yet", r.String())

	r.Query = url.Values{"limit": {"500"}}
	r.Status, r.Bytes = 200, 61_234
	assert.Equal(t, "GET /api/v1/namespaces/bed-x7k2p/pods?limit=500   200  61 KB  open", r.String())
	r.Done, r.Caller = true, "/a b/clientset.go:41"
	assert.Equal(t, "GET /api/v1/namespaces/bed-x7k2p/pods?limit=500   200  61 KB  clientset.go:41", r.String())
	r.Query.Set("continue", "eyJ2IjoibWV0YS5rOHMuaW8vdjEi")
	assert.Equal(t, "GET /api/v1/namespaces/bed-x7k2p/pods?continue=eyJ2IjoibW…&limit=500   200  61 KB  clientset.go:41", r.String())
	r = Request{Method: http.MethodPut, Path: "/x", Status: 409, Reason: metav1.StatusReasonConflict, Fault: true, Done: true}
	assert.Equal(t, "PUT /x   409 Conflict  put in by the check", r.String())
	r = Request{Method: http.MethodGet, Path: "/x", Done: true, Err: byClient}
	assert.Equal(t, "GET /x   no answer  closed by the client", r.String())
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 KB", 9949: "9.9 KB", 61_234: "61 KB", 999_999: "999 KB", 1_250_000: "1.2 MB"} {
		assert.Equal(t, want, size(n))
	}
}
