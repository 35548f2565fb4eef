package testbed

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/controllings/controllings/testbed/proxy"
)

func TestFailText(t *testing.T) {
	assert.Equal(t, "expected   one\n           two\nseen       three\nwhere      README.md#x",
		Fail{Expected: "one\ntwo\n", Seen: "three", See: "README.md#x"}.String())
}

func TestRecentTraffic(t *testing.T) {
	request := func(path string) proxy.Request {
		return proxy.Request{Method: "GET", Path: path, Status: 200, Bytes: 10, Done: true, Query: url.Values{}}
	}
	assert.Empty(t, recent(nil))
	assert.Equal(t, "GET /a   200  10 B", recent([]proxy.Request{request("/a")}))
	assert.Equal(t, "GET /a   200  10 B\nGET /b   200  10 B   ×2\nGET /a   200  10 B",
		recent([]proxy.Request{request("/a"), request("/b"), request("/b"), request("/a")}))

	var many []proxy.Request
	for range 3 {
		many = append(many, request("/old"))
	}
	for _, p := range []string{"/1", "/2", "/3", "/4", "/5", "/6"} {
		many = append(many, request(p), request(p))
	}
	assert.Equal(t, `… and 3 before
GET /1   200  10 B   ×2
GET /2   200  10 B   ×2
GET /3   200  10 B   ×2
GET /4   200  10 B   ×2
GET /5   200  10 B   ×2
GET /6   200  10 B   ×2`, recent(many))
}

func TestPlace(t *testing.T) {
	file, line := place([]proxy.Request{{Caller: "/a b/x.go:7"}, {Caller: "/a b/clientset.go:41"}, {}})
	assert.Equal(t, "/a b/clientset.go", file)
	assert.Equal(t, 41, line)
	file, line = place([]proxy.Request{{}, {Caller: "nonsense"}})
	assert.Empty(t, file)
	assert.Zero(t, line)
}

func TestInChapter(t *testing.T) {
	for function, want := range map[string]bool{
		"github.com/controllings/controllings/chapters/01-clientset.List":       true,
		"github.com/controllings/controllings/solutions/01-clientset.List":      true,
		"github.com/controllings/controllings/chapters/15-x/cmd/manager.main":   true,
		"github.com/controllings/controllings/testbed.(*Bed).Create":            false,
		"k8s.io/client-go/rest.(*Request).Do":                                   false,
		"github.com/controllings/controllings/chapters/01-clientset_test.TestX": true, // its file tells
	} {
		assert.Equal(t, want, inChapter(function), function)
	}
}

func TestScale(t *testing.T) {
	for factor, want := range map[string]time.Duration{
		"": time.Second, "1": time.Second, "2.5": 2500 * time.Millisecond, "0.5": 500 * time.Millisecond,
		"0": time.Second, "-1": time.Second, "NaN": time.Second, "much": time.Second,
	} {
		t.Setenv("LAB_TIME_FACTOR", factor)
		assert.Equal(t, want, Scale(time.Second), "LAB_TIME_FACTOR=%s", factor)
	}
}

func TestParseRBAC(t *testing.T) {
	roles, clusterRoles, err := parseRBAC([]byte(`# a comment
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: chapter}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: nodes}
rules:
- {apiGroups: [""], resources: [nodes], verbs: [list]}
`))
	assert.NoError(t, err)
	assert.Len(t, roles, 1)
	assert.Len(t, clusterRoles, 1)
	for name, text := range map[string]string{
		"a binding":     "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n",
		"a typing slip": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nrulez: []\n",
		"no YAML":       "a: [",
	} {
		_, _, err := parseRBAC([]byte(text))
		assert.Error(t, err, name)
	}
}

func TestWrittenBy(t *testing.T) {
	for name, tc := range map[string]struct {
		r    proxy.Request
		want bool
	}{
		"create": {proxy.Request{Verb: "create", Resource: "configmaps", Namespace: "ns"}, true},
		"status": {proxy.Request{Verb: "patch", Resource: "pods", Subresource: "status", Namespace: "ns"}, true},
		"delete": {proxy.Request{Verb: "delete", Resource: "configmaps", Namespace: "ns"}, false},
		"list":   {proxy.Request{Verb: "list", Resource: "configmaps", Namespace: "ns"}, false},
		"global": {proxy.Request{Verb: "create", Resource: "namespaces"}, false},
		"itself": {proxy.Request{Verb: "patch", Resource: "namespaces", Namespace: "ns", Name: "ns"}, false},
		"review": {proxy.Request{Verb: "create", Resource: "localsubjectaccessreviews", Namespace: "ns"}, false},
	} {
		_, got := writtenBy(tc.r)
		assert.Equal(t, tc.want, got, name)
	}
}
