package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// patience is how long anything may take that the control plane does by itself.
const patience = 10 * time.Second

func podTemplate() obj {
	return obj{
		"metadata": obj{"labels": obj{"app": "x"}},
		"spec":     obj{"containers": []any{obj{"name": "c", "image": "none.example/x"}}},
	}
}

func TestDeploymentRollsOutAndItsDeletionCollectsItsPods(t *testing.T) {
	shared.up(t)
	a := shared.admin(t)
	ns := a.namespace()
	apps, core := "/apis/apps/v1/namespaces/"+ns, "/api/v1/namespaces/"+ns
	a.create(apps+"/deployments", obj{
		"metadata": obj{"name": "web"},
		"spec": obj{
			"replicas": 3, "selector": obj{"matchLabels": obj{"app": "x"}}, "template": podTemplate(),
		},
	})
	a.until(apps+"/deployments/web", func(_ int, o obj) bool {
		return field(o, "status", "availableReplicas") == 3.0
	})
	if n := len(a.items(t.Context(), core+"/pods")); n != 3 {
		t.Errorf("%d Pods, want 3", n)
	}
	a.delete(apps + "/deployments/web")
	eventually(t, patience, func(ctx context.Context) string {
		sets, pods := len(a.items(ctx, apps+"/replicasets")), len(a.items(ctx, core+"/pods"))
		if sets+pods == 0 {
			return ""
		}
		return fmt.Sprintf("%d ReplicaSets and %d Pods are left", sets, pods)
	})
}

func TestJobCompletes(t *testing.T) {
	shared.up(t)
	a := shared.admin(t)
	jobs := "/apis/batch/v1/namespaces/" + a.namespace() + "/jobs"
	template := podTemplate()
	template["spec"].(obj)["restartPolicy"] = "Never"
	a.create(jobs, obj{"metadata": obj{"name": "once"}, "spec": obj{"template": template}})
	a.until(jobs+"/once", func(_ int, o obj) bool {
		return field(o, "status", "succeeded") == 1.0 && field(o, "status", "completionTime") != nil
	})
}

func TestNodesAreReadyAndStaySo(t *testing.T) {
	shared.up(t)
	a := shared.admin(t)
	for _, n := range []string{"node-1", "node-2"} {
		a.until("/api/v1/nodes/"+n, func(_ int, o obj) bool {
			conditions, _ := field(o, "status", "conditions").([]any)
			for _, c := range conditions {
				if c := c.(obj); c["type"] == "Ready" {
					return c["status"] == "True"
				}
			}
			return false
		})
		// Its lease is what keeps it Ready.
		a.until("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+n, func(code int, _ obj) bool { return code == http.StatusOK })
	}
}

func TestNamespaceIsGoneWithAllThatIsInIt(t *testing.T) {
	shared.up(t)
	a := shared.admin(t)
	ns := a.namespace()
	for i := range 20 {
		a.create("/api/v1/namespaces/"+ns+"/configmaps", obj{"metadata": obj{"name": fmt.Sprint("c-", i)}})
	}
	pod := podTemplate()["spec"].(obj)
	pod["terminationGracePeriodSeconds"] = 1
	a.create("/api/v1/namespaces/"+ns+"/pods", obj{"metadata": obj{"name": "p"}, "spec": pod})
	a.delete("/api/v1/namespaces/" + ns)
	a.until("/api/v1/namespaces/"+ns, func(code int, _ obj) bool { return code == http.StatusNotFound })
}

// The namespace controller waits five seconds before its first pass. It looks
// at the grace period that Pods were promised, not at whether they are gone, so
// with a Pod of the default 30 s it comes back only when something else makes
// it: the status that it wrote itself, another five seconds later. A real
// cluster takes as long (namespaceDeletionGracePeriod and
// estimateGracefulTerminationForPods in the controller's source).
func TestNamespaceWithAPodOfTheDefaultGracePeriodIsGoneAfterASecondPass(t *testing.T) {
	shared.up(t)
	a := shared.admin(t)
	ns := a.namespace()
	a.create("/api/v1/namespaces/"+ns+"/pods", obj{"metadata": obj{"name": "p"}, "spec": podTemplate()["spec"]})
	a.delete("/api/v1/namespaces/" + ns)
	a.untilWithin(2*patience, "/api/v1/namespaces/"+ns, func(code int, _ obj) bool { return code == http.StatusNotFound })
}

// An owner reference has no namespace: it names an owner in the object's own.
// One that is meant for another namespace names nobody there, and the garbage
// collector, which goes by UID, collects the object as an orphan.
func TestOwnerInAnotherNamespaceIsNoOwner(t *testing.T) {
	shared.up(t)
	a := shared.admin(t)
	here, there := a.namespace(), a.namespace()
	owner := a.create("/api/v1/namespaces/"+there+"/configmaps", obj{"metadata": obj{"name": "owner"}})
	ref := obj{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": field(owner, "metadata", "uid")}
	a.create("/api/v1/namespaces/"+here+"/configmaps", obj{"metadata": obj{"name": "child", "ownerReferences": []any{ref}}})
	a.create("/api/v1/namespaces/"+there+"/configmaps", obj{"metadata": obj{"name": "sibling", "ownerReferences": []any{ref}}})
	a.until("/api/v1/namespaces/"+here+"/configmaps/child", func(code int, _ obj) bool { return code == http.StatusNotFound })
	// And the collector says why, as upstream does.
	eventually(t, patience, func(ctx context.Context) string {
		for _, e := range a.items(ctx, "/api/v1/namespaces/"+here+"/events") {
			if e.(obj)["reason"] == "OwnerRefInvalidNamespace" {
				return ""
			}
		}
		return "no event OwnerRefInvalidNamespace"
	})
	if code, _ := a.do(t.Context(), http.MethodGet, "/api/v1/namespaces/"+there+"/configmaps/sibling", nil); code != http.StatusOK {
		t.Errorf("GET of the child that is in its owner's namespace: %d, want 200", code)
	}
}

// serviceAccount makes a ServiceAccount and returns it as an API user.
func serviceAccount(t *testing.T, c cluster, ns, name string) *api {
	t.Helper()
	a := c.admin(t)
	path := "/api/v1/namespaces/" + ns + "/serviceaccounts"
	a.create(path, obj{"metadata": obj{"name": name}})
	token := a.create(path+"/"+name+"/token", obj{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": obj{}})
	return c.as(t, field(token, "status", "token").(string))
}

// bind gives a ServiceAccount rules in its namespace.
func bind(a *api, ns, name string, rules ...obj) {
	a.t.Helper()
	rbac := "/apis/rbac.authorization.k8s.io/v1/namespaces/" + ns
	a.create(rbac+"/roles", obj{"metadata": obj{"name": name}, "rules": rules})
	a.create(rbac+"/rolebindings", obj{
		"metadata": obj{"name": name},
		"roleRef":  obj{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
		"subjects": []any{obj{"kind": "ServiceAccount", "namespace": ns, "name": name}},
	})
}

func rule(group, resource string, verbs ...string) obj {
	return obj{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": verbs}
}

func TestRBACRefusesAServiceAccountUntilItIsBound(t *testing.T) {
	shared.up(t)
	admin := shared.admin(t)
	ns := admin.namespace()
	sa := serviceAccount(t, shared, ns, "worker")
	pods := "/api/v1/namespaces/" + ns + "/pods"
	code, got := sa.do(t.Context(), http.MethodGet, pods, nil)
	if code != http.StatusForbidden || !strings.Contains(fmt.Sprint(got["message"]), "system:serviceaccount:"+ns+":worker") {
		t.Errorf("unbound: %d %v; want 403 that names the account", code, got["message"])
	}
	bind(admin, ns, "worker", rule("", "pods", "list"))
	eventually(t, patience, func(ctx context.Context) string {
		if code, got := sa.do(ctx, http.MethodGet, pods, nil); code != http.StatusOK {
			return fmt.Sprint("bound: ", code, " ", got["message"])
		}
		return ""
	})
	if code, _ := sa.do(t.Context(), http.MethodGet, "/api/v1/pods", nil); code != http.StatusForbidden {
		t.Errorf("in all namespaces: %d, want 403", code)
	}
	if code, _ := shared.as(t, "forged").do(t.Context(), http.MethodGet, pods, nil); code != http.StatusUnauthorized {
		t.Errorf("a forged token: %d, want 401", code)
	}
}

func TestBlockOwnerDeletionNeedsTheRightToSetFinalizers(t *testing.T) {
	shared.up(t)
	admin := shared.admin(t)
	ns := admin.namespace()
	sa := serviceAccount(t, shared, ns, "controller")
	bind(admin, ns, "controller", rule("", "configmaps", "create", "get"))
	apps, maps := "/apis/apps/v1/namespaces/"+ns, "/api/v1/namespaces/"+ns+"/configmaps"
	owner := admin.create(apps+"/deployments", obj{
		"metadata": obj{"name": "owner"},
		"spec":     obj{"replicas": 0, "selector": obj{"matchLabels": obj{"app": "x"}}, "template": podTemplate()},
	})
	child := obj{"metadata": obj{"name": "child", "ownerReferences": []any{obj{
		"apiVersion": "apps/v1", "kind": "Deployment", "name": "owner", "uid": field(owner, "metadata", "uid"),
		"controller": true, "blockOwnerDeletion": true,
	}}}}
	const words = "cannot set blockOwnerDeletion"
	eventually(t, patience, func(ctx context.Context) string { // until the binding is known
		code, got := sa.do(ctx, http.MethodPost, maps, child)
		if code == http.StatusForbidden && strings.Contains(fmt.Sprint(got["message"]), words) {
			return ""
		}
		return fmt.Sprintf("%d %v; want 403 with %q", code, got["message"], words)
	})
	bind(admin, ns, "finalizer", rule("apps", "deployments/finalizers", "update"))
	admin.create("/apis/rbac.authorization.k8s.io/v1/namespaces/"+ns+"/rolebindings", obj{
		"metadata": obj{"name": "controller-finalizer"},
		"roleRef":  obj{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "finalizer"},
		"subjects": []any{obj{"kind": "ServiceAccount", "namespace": ns, "name": "controller"}},
	})
	eventually(t, patience, func(ctx context.Context) string {
		if code, got := sa.do(ctx, http.MethodPost, maps, child); code != http.StatusCreated {
			return fmt.Sprint(code, " ", got["message"])
		}
		return ""
	})
}

func TestAPodGetsItsServiceAccountsToken(t *testing.T) {
	shared.up(t)
	a := shared.admin(t)
	pods := "/api/v1/namespaces/" + a.namespace() + "/pods"
	pod := a.create(pods, obj{"metadata": obj{"name": "p"}, "spec": podTemplate()["spec"]})
	volumes, _ := field(pod, "spec", "volumes").([]any)
	if field(pod, "spec", "serviceAccountName") != "default" || len(volumes) != 1 {
		t.Errorf("serviceAccountName %v, %d volumes; want default, and its token's volume", field(pod, "spec", "serviceAccountName"), len(volumes))
	}
}

func TestTheVersionIsTheRealOne(t *testing.T) {
	shared.up(t)
	_, v := shared.admin(t).do(t.Context(), http.MethodGet, "/version", nil)
	if v["major"] != "1" || v["gitVersion"] != shared.status(t).Kubernetes || !strings.HasPrefix(fmt.Sprint(v["gitVersion"]), "v1."+fmt.Sprint(v["minor"])+".") {
		t.Errorf("version = %v", v)
	}
}
