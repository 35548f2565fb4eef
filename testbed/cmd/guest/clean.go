package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/controllings/controllings/testbed/internal/ours"
)

// cleaned is the answer of clean.
type cleaned struct {
	// Removed names what is gone, as "namespace bed-x7k2p".
	Removed []string `json:"removed"`
	// Shared is what others who take the course on this cluster use just now.
	Shared []string `json:"shared,omitempty"`
	// Held could not be removed, and why.
	Held []string `json:"held,omitempty"`
}

// plan is what is to be removed.
type plan struct {
	namespaces   []string
	crds         []string
	roles        []string // cluster-wide ones
	bindings     []string
	shared, held []string
}

// again is how often finalizers are looked at while a namespace ends: its content
// may have changed since.
const again = 2 * time.Second

// clean removes what bears the course's label and was made for this home, or is
// in nobody's use any more. It first says what, and returns when that is gone.
func clean(ctx context.Context, kubeconfig, home string, say func(string, ...any)) (*cleaned, error) {
	me, err := ours.Home(home)
	if err != nil {
		return nil, err
	}
	to, err := connect(kubeconfig)
	if err != nil {
		return nil, err
	}
	p, err := to.plan(ctx, me)
	if err != nil {
		return nil, err
	}
	answer := &cleaned{Removed: p.names(), Shared: p.shared, Held: p.held}
	for _, name := range answer.Removed {
		say("removing %s", name)
	}
	return answer, to.remove(ctx, p)
}

// names of all that is to go.
func (p *plan) names() []string {
	all := []string{}
	for _, kind := range []struct {
		name    string
		objects []string
	}{{"namespace", p.namespaces}, {"type", p.crds}, {"ClusterRole", p.roles}, {"ClusterRoleBinding", p.bindings}} {
		for _, o := range kind.objects {
			all = append(all, kind.name+" "+o)
		}
	}
	return all
}

func (c *connection) plan(ctx context.Context, me string) (*plan, error) {
	p := &plan{}
	labelled := metav1.ListOptions{LabelSelector: ours.Selector}
	namespaces, err := c.typed.CoreV1().Namespaces().List(ctx, labelled)
	if err != nil {
		return nil, fmt.Errorf("list the course's namespaces: %w", err)
	}
	inUse := map[string]bool{}
	var common []string
	for _, ns := range namespaces.Items {
		switch {
		case ours.Shared(&ns):
			common = append(common, ns.Name)
		case !ours.Namespace(&ns):
		case ns.Annotations[ours.HomeAnnotation] == me, ours.Stale(&ns, time.Now()):
			p.namespaces = append(p.namespaces, ns.Name)
		default:
			inUse[ns.Name] = true
			p.shared = append(p.shared, "namespace "+ns.Name)
		}
	}
	// What all use goes when nobody is left; whoever comes later makes it again.
	for _, name := range common {
		if len(inUse) == 0 {
			p.namespaces = append(p.namespaces, name)
		} else {
			p.shared = append(p.shared, "namespace "+name)
		}
	}
	if err := c.planRoles(ctx, p, labelled, inUse); err != nil {
		return nil, err
	}
	crds, err := c.dynamic.Resource(ours.CRDs).List(ctx, labelled)
	if err != nil {
		return nil, fmt.Errorf("list the course's types: %w", err)
	}
	for _, crd := range crds.Items {
		if !ours.CRDName(crd.GetName()) {
			continue
		}
		if len(inUse) > 0 {
			p.shared = append(p.shared, "type "+crd.GetName())
			continue
		}
		foreign, err := c.instances(ctx, crd.Object)
		switch {
		case err != nil:
			return nil, fmt.Errorf("look for objects of %s: %w", crd.GetName(), err)
		case len(foreign) > 0:
			p.held = append(p.held, fmt.Sprintf("type %s: there are objects of it outside the course's namespaces: %s", crd.GetName(), strings.Join(foreign, ", ")))
		default:
			p.crds = append(p.crds, crd.GetName())
		}
	}
	return p, nil
}

// planRoles adds the cluster-wide rights of beds that go. The garbage collector
// would take them too, a little later.
func (c *connection) planRoles(ctx context.Context, p *plan, labelled metav1.ListOptions, inUse map[string]bool) error {
	goes := func(o metav1.Object) bool {
		for _, owner := range o.GetOwnerReferences() {
			if owner.Kind == "Namespace" && inUse[owner.Name] {
				return false
			}
		}
		return strings.HasPrefix(o.GetName(), ours.NamespacePrefix)
	}
	roles, err := c.typed.RbacV1().ClusterRoles().List(ctx, labelled)
	if err != nil {
		return fmt.Errorf("list the course's ClusterRoles: %w", err)
	}
	for _, r := range roles.Items {
		if goes(&r) {
			p.roles = append(p.roles, r.Name)
		}
	}
	bindings, err := c.typed.RbacV1().ClusterRoleBindings().List(ctx, labelled)
	if err != nil {
		return fmt.Errorf("list the course's ClusterRoleBindings: %w", err)
	}
	for _, b := range bindings.Items {
		if goes(&b) {
			p.bindings = append(p.bindings, b.Name)
		}
	}
	return nil
}

// most objects that are named.
const mostNamed = 5

// instances names some objects of a type that are in no namespace of the
// course's: with the type they would be lost.
func (c *connection) instances(ctx context.Context, crd map[string]any) ([]string, error) {
	gvr, ok := served(crd)
	if !ok {
		return nil, nil
	}
	list, err := c.objects.Resource(gvr).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil // not served yet, or no more
	}
	if err != nil {
		return nil, err
	}
	var foreign []string
	known := map[string]bool{}
	for _, o := range list.Items {
		mine, ok := known[o.Namespace]
		if !ok && o.Namespace != "" {
			ns, err := c.typed.CoreV1().Namespaces().Get(ctx, o.Namespace, metav1.GetOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, err
			}
			mine = err != nil || ours.Namespace(ns)
			known[o.Namespace] = mine
		}
		if mine {
			continue
		}
		if len(foreign) == mostNamed {
			return append(foreign, "…"), nil
		}
		foreign = append(foreign, strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))
	}
	return foreign, nil
}

// served is the address of a type's objects.
func served(crd map[string]any) (schema.GroupVersionResource, bool) {
	spec, _ := crd["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	group, _ := spec["group"].(string)
	plural, _ := names["plural"].(string)
	for _, v := range versions {
		v, _ := v.(map[string]any)
		if served, _ := v["served"].(bool); served {
			name, _ := v["name"].(string)
			return schema.GroupVersionResource{Group: group, Version: name, Resource: plural}, true
		}
	}
	return schema.GroupVersionResource{}, false
}

// remove deletes what is planned and waits until it is gone: namespaces first,
// since the objects of a type that goes are in them.
func (c *connection) remove(ctx context.Context, p *plan) error {
	if err := c.removeNamespaces(ctx, p.namespaces); err != nil {
		return err
	}
	var errs []error
	rbac := c.typed.RbacV1()
	for _, name := range p.bindings {
		errs = append(errs, ignoreGone(rbac.ClusterRoleBindings().Delete(ctx, name, metav1.DeleteOptions{})))
	}
	for _, name := range p.roles {
		errs = append(errs, ignoreGone(rbac.ClusterRoles().Delete(ctx, name, metav1.DeleteOptions{})))
	}
	crds := c.objects.Resource(ours.CRDs)
	for _, name := range p.crds {
		errs = append(errs, ignoreGone(crds.Delete(ctx, name, metav1.DeleteOptions{})))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, name := range p.crds {
		err := poll(ctx, func() (bool, error) {
			_, err := crds.Get(ctx, name, metav1.GetOptions{})
			return apierrors.IsNotFound(err), ignoreGone(err)
		})
		if err != nil {
			return fmt.Errorf("wait for the end of type %s: %w", name, err)
		}
	}
	return nil
}

func (c *connection) removeNamespaces(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	types, err := ours.Namespaced(c.typed.Discovery())
	if err != nil {
		return err
	}
	free := func(name string) error {
		if err := ours.RemoveNamespace(ctx, c.config, c.typed, name, nil, types); err != nil {
			return fmt.Errorf("remove namespace %s: %w", name, err)
		}
		return nil
	}
	for _, name := range names { // all are ending while we wait for the first
		if err := free(name); err != nil {
			return err
		}
	}
	for _, name := range names {
		var last *corev1.Namespace
		next := time.Now().Add(again)
		err := poll(ctx, func() (bool, error) {
			ns, err := c.typed.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return apierrors.IsNotFound(err), ignoreGone(err)
			}
			last = ns
			if time.Now().Before(next) {
				return false, nil
			}
			next = time.Now().Add(again)
			return false, free(name)
		})
		if err != nil {
			return hinted{
				fmt.Errorf("wait for the end of namespace %s: %w%s", name, err, holds(last)),
				"nothing else is needed from you: the cluster goes on by itself; make cluster-down again shows whether it is done",
			}
		}
	}
	return nil
}

// holds says what a namespace's conditions tell of why it doesn't end.
func holds(ns *corev1.Namespace) string {
	if ns == nil {
		return ""
	}
	var why strings.Builder
	for _, c := range ns.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			fmt.Fprintf(&why, "\n%s: %s", c.Type, c.Message)
		}
	}
	return why.String()
}

func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// poll asks until done, an error, or the end of ctx.
func poll(ctx context.Context, done func() (bool, error)) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		ok, err := done()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if ok || err != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}
