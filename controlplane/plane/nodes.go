package plane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/endpoint"
)

// addedLabel marks a node that was added while the cluster was up; its value says
// by whom.
const addedLabel = "controllings.example.com/added-by"

// makeNodes makes the simulated nodes node-1 … node-n. One that exists stays.
func (a *api) makeNodes(ctx context.Context, n int) error {
	for i := 1; i <= n; i++ {
		if _, err := a.makeNode(ctx, nodeName(i), nil); err != nil {
			return err
		}
	}
	return nil
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// makeNode makes one simulated node. It reports whether there was none of that
// name.
func (a *api) makeNode(ctx context.Context, name string, labels map[string]string) (bool, error) {
	all := map[string]string{
		"kubernetes.io/hostname": name,
		"kubernetes.io/os":       "linux",
		"type":                   "kwok",
	}
	for k, v := range labels {
		all[k] = v
	}
	status, err := a.do(ctx, http.MethodPost, "/api/v1/nodes", map[string]any{
		"apiVersion": "v1",
		"kind":       "Node",
		"metadata": map[string]any{
			"name":        name,
			"annotations": map[string]string{component.NodeAnnotation: "fake"},
			"labels":      all,
		},
		"status": map[string]any{
			// Real sizes, so that a Pod which asks for too much stays Pending.
			"allocatable": nodeSize,
			"capacity":    nodeSize,
		},
	})
	if status == http.StatusConflict {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("make node %q: %w", name, err)
	}
	return true, nil
}

var nodeSize = map[string]string{"cpu": "32", "memory": "256Gi", "pods": "1000"}

// node is as much of a Node as counts here.
type node struct {
	Metadata struct{ Name string }
	Status   struct {
		Conditions []struct{ Type, Status string }
	}
}

func (n node) ready() bool {
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return false
}

// added returns the nodes that somebody added, all of them if by is "".
func (a *api) added(ctx context.Context, by string) ([]node, error) {
	selector := addedLabel
	if by != "" {
		selector += "=" + by
	}
	var list struct{ Items []node }
	err := a.get(ctx, "/api/v1/nodes?labelSelector="+url.QueryEscape(selector), "", &list)
	return list.Items, err
}

// AddNodes implements endpoint.Actions.
func (c *actions) AddNodes(ctx context.Context, n int, by string) ([]string, error) {
	if err := c.serving(ctx); err != nil {
		return nil, err
	}
	var names []string
	for i := c.s.o.Nodes + 1; len(names) < n; i++ {
		made, err := c.s.api.makeNode(ctx, nodeName(i), map[string]string{addedLabel: by})
		if err != nil {
			return names, err
		}
		if made {
			names = append(names, nodeName(i))
		}
	}
	return names, c.until(ctx, "the new nodes", func(ctx context.Context) error {
		nodes, err := c.s.api.added(ctx, by)
		if err != nil {
			return err
		}
		ready := map[string]bool{}
		for _, n := range nodes {
			ready[n.Metadata.Name] = n.ready()
		}
		for _, name := range names {
			if !ready[name] {
				return fmt.Errorf("node %s is not ready", name)
			}
		}
		return nil
	})
}

// RemoveNodes implements endpoint.Actions.
func (c *actions) RemoveNodes(ctx context.Context, by string) ([]string, error) {
	switch by {
	case "", endpoint.ByUser, endpoint.ByCheck:
	default: // it goes into a selector
		return nil, &endpoint.Error{
			Code: http.StatusBadRequest, Err: fmt.Errorf("nobody called %q adds nodes", by),
			Hint: fmt.Sprintf("by is %q or %q", endpoint.ByUser, endpoint.ByCheck),
		}
	}
	if err := c.serving(ctx); err != nil {
		return nil, err
	}
	nodes, err := c.s.api.added(ctx, by)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range nodes {
		status, err := c.s.api.do(ctx, http.MethodDelete, "/api/v1/nodes/"+url.PathEscape(n.Metadata.Name), nil)
		if err != nil && status != http.StatusNotFound {
			return names, fmt.Errorf("remove node %q: %w", n.Metadata.Name, err)
		}
		names = append(names, n.Metadata.Name)
	}
	return names, c.until(ctx, "the nodes to go", func(ctx context.Context) error {
		left, err := c.s.api.added(ctx, by)
		if err == nil && len(left) > 0 {
			err = errors.New("node " + left[0].Metadata.Name + " is still there")
		}
		return err
	})
}
