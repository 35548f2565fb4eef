package e2e

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wire leads to an API server and counts who comes.
type wire struct {
	address string
	came    atomic.Int64
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	w := &wire{address: l.Addr().String()}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			w.came.Add(1)
			out, err := net.Dial("tcp4", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
				}()
			}
		}
	}()
	return w
}

// owner is what the cluster's owner has on it before the course comes: things
// that look like the course's, too.
func (c *theirs) furnish() (admin, viewer string) {
	c.t.Helper()
	namespace := func(name string, labels obj) {
		c.create("/api/v1/namespaces", obj{"metadata": obj{"name": name, "labels": labels}})
	}
	namespace("shop", obj{"app.kubernetes.io/managed-by": "Helm"})
	namespace("bed-rock", nil)
	namespace("quarry", obj{"app.kubernetes.io/managed-by": "controllings-testbed"})
	c.create("/apis/apps/v1/namespaces/shop/deployments", obj{
		"metadata": obj{"name": "web"},
		"spec": obj{"replicas": 2, "selector": obj{"matchLabels": obj{"app": "web"}}, "template": obj{
			"metadata": obj{"labels": obj{"app": "web"}},
			"spec":     obj{"containers": []any{obj{"name": "web", "image": "registry.example.com/web"}}},
		}},
	})
	c.crd("widgets.shop.example.com", nil)
	eventually(c.t, time.Minute, func() string {
		code, o := c.do(http.MethodPost, "/apis/shop.example.com/v1/namespaces/shop/widgets", obj{
			"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": obj{"name": "w"}})
		if code == http.StatusCreated {
			return ""
		}
		return fmt.Sprint(code, o["message"])
	})
	account := func(name, role string) string {
		c.create("/api/v1/namespaces/shop/serviceaccounts", obj{"metadata": obj{"name": name}})
		c.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", obj{
			"metadata": obj{"name": "shop-" + name},
			"roleRef":  obj{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
			"subjects": []any{obj{"kind": "ServiceAccount", "name": name, "namespace": "shop"}},
		})
		return field(c.create("/api/v1/namespaces/shop/serviceaccounts/"+name+"/token", obj{"spec": obj{"expirationSeconds": 3600}}), "status", "token")
	}
	return account("boss", "cluster-admin"), account("viewer", "view")
}

// crd makes a type.
func (c *theirs) crd(name string, labels obj) {
	plural, group, _ := strings.Cut(name, ".")
	kind := strings.ToUpper(plural[:1]) + strings.TrimSuffix(plural[1:], "s")
	c.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", obj{
		"metadata": obj{"name": name, "labels": labels},
		"spec": obj{"group": group, "scope": "Namespaced", "names": obj{"kind": kind, "plural": plural, "singular": strings.ToLower(kind)},
			"versions": []any{obj{"name": "v1", "served": true, "storage": true, "schema": obj{"openAPIV3Schema": obj{"type": "object"}}}}},
	})
}

// files lists what is under a folder, with sizes and times, but for the go
// command's own count of how it is used.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() && !strings.Contains(path, "/go/telemetry/") {
			all = append(all, fmt.Sprint(path, info.Size(), info.ModTime(), info.Mode()))
		}
		return err
	})
	require.NoError(t, err)
	return all
}

// TestExisting takes the course on a cluster of somebody else's, and shows that
// nothing happens there before it is named, that only what is the course's is
// made, and that in the end it is as it was.
func TestExisting(t *testing.T) {
	c := startTheirs(t)
	boss, viewer := c.furnish()
	before, versions := c.settled()
	record := c.record(before, versions)

	// Their user logs in by a program that needs their home folder.
	p := newPerson(t)
	kube := filepath.Join(p.get("HOME"), ".kube")
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(p.get("HOME"), name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
	w := newWire(t, c.server)
	write("token", boss, 0o600)
	write(".kube/bin/login", `#!/bin/sh
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$(cat "$HOME/token")"
`, 0o700)
	write(".kube/config", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: prod
contexts:
- {name: prod, context: {cluster: theirs, user: login}}
- {name: readonly, context: {cluster: theirs, user: viewer}}
- {name: expired, context: {cluster: theirs, user: expired}}
clusters:
- {name: theirs, cluster: {server: "https://%s", certificate-authority: %q}}
users:
- {name: login, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, interactiveMode: Never}}}
- {name: viewer, user: {token: %q}}
- {name: expired, user: {token: "no longer good"}}
`, w.address, c.ca(), viewer), 0o600)
	config := filepath.Join(kube, "config")
	kept := files(t, p.get("HOME"))
	p.set("CLUSTER", "existing")
	kubeconfig := filepath.Join(p.get("LAB_HOME"), "kubeconfig")

	unchanged := func(t *testing.T) {
		t.Helper()
		now, _ := c.dump()
		if d := differences(before, now); d != "" {
			t.Errorf("their cluster is not as it was:\n%s", d)
		}
		require.Equal(t, kept, files(t, p.get("HOME")), "the user's home folder")
	}

	// step is a subtest whose failure ends it alone.
	step := func(name string, do func(t *testing.T)) {
		t.Run(name, func(sub *testing.T) {
			p.t, c.t = sub, sub
			defer func() { p.t, c.t = t, t }()
			do(sub)
		})
	}

	step("nothing happens before it is named", func(t *testing.T) {
		for _, set := range []func(){
			func() {},
			func() { p.set("KUBECONFIG", config) },
			func() { p.unset("KUBECONFIG"); p.set("LAB_CONTEXT", "prod") },
			func() { p.set("LAB_EXISTING_KUBECONFIG", config); p.set("LAB_CONTEXT", "elsewhere") },
		} {
			set()
			for _, args := range [][]string{{"cluster", "up"}, {"run", "1", "--answer", "solution"}} {
				want(t, p.lab(2, args...).stderr, "error: ", "hint:  ")
			}
			p.lab(1, "cluster", "status")
			p.lab(0, "cluster", "down")
		}
		p.unset("LAB_CONTEXT")
		want(t, p.lab(2, "cluster", "up").stderr, "has the contexts: expired, prod, readonly", "export LAB_CONTEXT=NAME")
		require.Zero(t, w.came.Load(), "connections to their API server")
		for _, f := range []string{kubeconfig, filepath.Join(p.get("LAB_HOME"), "clusters")} {
			_, err := os.Stat(f)
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
		unchanged(t)
	})

	step("rights that are missing are listed", func(t *testing.T) {
		p.set("LAB_CONTEXT", "readonly")
		r := p.lab(2, "cluster", "up")
		want(t, r.stderr, `context "readonly" at https://`+w.address, "so nothing was made", "create, patch, delete namespaces",
			"impersonate groups", "kind: ClusterRole")
		require.NotContains(t, r.stderr, viewer)
		p.set("LAB_CONTEXT", "expired")
		want(t, p.lab(2, "cluster", "up").stderr, `context "expired" at https://`, "log in again")
		require.NotZero(t, w.came.Load(), "a connection that was made was not counted")
		_, err := os.Stat(kubeconfig)
		require.ErrorIs(t, err, fs.ErrNotExist)
		unchanged(t)
	})

	step("a chapter passes on it", func(t *testing.T) {
		p.set("LAB_CONTEXT", "prod")
		r := p.lab(0, "run", "1", "--answer", "solution")
		want(t, r.stdout, "existing v1.", "6 of 6 done")
		want(t, r.stderr, `using context "prod" at https://`+w.address+": will create namespaces")
		require.NotContains(t, r.stdout+r.stderr, boss)
		want(t, p.lab(0, "cluster", "status").stdout, "existing is up")
		info, err := os.Stat(kubeconfig)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
		require.Equal(t, kept, files(t, p.get("HOME")), "the user's home folder")
	})

	step("what others use stays, as long as they do", func(t *testing.T) {
		labels := obj{"app.kubernetes.io/managed-by": "controllings-testbed"}
		c.crd("gadgets.shop.example.com", labels)
		c.create("/api/v1/namespaces", obj{"metadata": obj{"name": "bed-other", "labels": labels,
			"annotations": obj{"testbed.example.com/home": "another", "testbed.example.com/heartbeat": time.Now().UTC().Format(time.RFC3339)}}})
		want(t, p.lab(0, "cluster", "down").stderr, "left alone, others use it just now: namespace bed-other, ", "namespace shared-", "type gadgets.shop.example.com")
		for _, path := range []string{"/api/v1/namespaces/bed-other", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.shop.example.com"} {
			_, o := c.do(http.MethodGet, path, nil)
			require.Equal(t, path[strings.LastIndexByte(path, '/')+1:], field(o, "metadata", "name"))
			require.Empty(t, field(o, "metadata", "deletionTimestamp"))
		}
		c.remove("/api/v1/namespaces/bed-other")
	})

	step("down leaves it as it was", func(t *testing.T) {
		p.lab(0, "cluster", "up")
		// What a check leaves that was killed: a bed, held by a finalizer of code
		// that no longer runs, and rights over the cluster.
		labels := obj{"app.kubernetes.io/managed-by": "controllings-testbed"}
		bed := c.create("/api/v1/namespaces", obj{"metadata": obj{"name": "bed-stale", "labels": labels,
			"annotations": obj{"testbed.example.com/heartbeat": "2001-01-01T00:00:00Z"}}})
		c.create("/api/v1/namespaces/bed-stale/configmaps", obj{"metadata": obj{"name": "held", "finalizers": []any{"example.com/never"}}})
		c.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", obj{"metadata": obj{"name": "bed-stale-nodes", "labels": labels,
			"ownerReferences": []any{obj{"apiVersion": "v1", "kind": "Namespace", "name": "bed-stale", "uid": field(bed, "metadata", "uid")}}}})
		// An object of the course's type in a namespace that is not the course's
		// would be lost with the type.
		gadget := "/apis/shop.example.com/v1/namespaces/shop/gadgets"
		c.create(gadget, obj{"apiVersion": "shop.example.com/v1", "kind": "Gadget", "metadata": obj{"name": "g"}})

		p.unset("LAB_CONTEXT")
		p.unset("LAB_EXISTING_KUBECONFIG")
		r := p.lab(2, "cluster", "down")
		want(t, r.stderr, `leaving context "prod" at https://`+w.address, "removing namespace bed-stale", "removing ClusterRole bed-stale-nodes",
			"left on the cluster:\n  type gadgets.shop.example.com: there are objects of it outside the course's namespaces: shop/g")
		c.remove(gadget + "/g")
		r = p.lab(0, "cluster", "down")
		want(t, r.stderr, "removing type gadgets.shop.example.com")
		want(t, r.stdout, "nothing of the course's is left on the clusters it was a guest of")
		_, err := os.Stat(kubeconfig)
		require.ErrorIs(t, err, fs.ErrNotExist)
		p.lab(1, "cluster", "status")
		unchanged(t)
	})

	// The whole of it once more, change by change.
	ours := map[string]bool{}
	changes := record.complete()
	for _, e := range changes {
		if e.kind.name == "namespaces" && e.what == "ADDED" && allowed(e, nil) == "" {
			ours[field(e.object, "metadata", "name")] = true
		}
	}
	pods := 0
	for _, e := range changes {
		if e.kind.name == "pods" && e.what == "ADDED" {
			pods++
		}
		if wrong := allowed(e, ours); wrong != "" {
			t.Errorf("not the course's: %s", wrong)
		}
	}
	require.Greater(t, len(ours), 5, "the beds of chapter 1 and of this test were not all seen")
	require.NotZero(t, pods, "the Pods of chapter 1 were not seen")
}
