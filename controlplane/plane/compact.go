package plane

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Compact implements endpoint.Actions.
//
// That etcd has forgotten is not enough: for each type of object the API server
// keeps snapshots of the past in memory, answers lists at an exact revision and
// continued ones from them, and looks every 15 seconds for what etcd has
// forgotten (k8s.io/apiserver, storage/cacher/compactor.go). So all types are
// asked for a list at a revision from before, until none is answered any more.
//
// Watches are another matter: one that begins at an old revision is served from
// the events in the API server's memory, which only its restart clears.
func (c *actions) Compact(ctx context.Context) (int64, error) {
	if err := c.serving(ctx); err != nil {
		return 0, err
	}
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := c.s.api.get(ctx, "/api/v1/nodes?limit=1", "", &list); err != nil {
		return 0, err
	}
	paths, err := c.s.api.listable(ctx)
	if err != nil {
		return 0, err
	}
	left, err := c.s.o.Compact(ctx)
	if err != nil {
		return 0, fmt.Errorf("compact etcd: %w", err)
	}
	for _, path := range paths {
		err := c.until(ctx, "the API server to forget", func(ctx context.Context) error {
			return c.s.api.forgotten(ctx, path, list.Metadata.ResourceVersion)
		})
		if err != nil {
			return 0, err
		}
	}
	return left, nil
}

// forgotten returns nil if a list at an old revision gets 410 Expired, or if
// there is no such thing for this type of object.
func (a *api) forgotten(ctx context.Context, path, revision string) error {
	path += "?limit=1&resourceVersionMatch=Exact&resourceVersion=" + url.QueryEscape(revision)
	status, answer, err := a.send(ctx, http.MethodGet, path, "", nil)
	switch status {
	case http.StatusGone, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadRequest:
		return nil
	case http.StatusOK:
		var list struct {
			Metadata struct{ ResourceVersion string }
		}
		if json.Unmarshal(answer, &list) == nil && list.Metadata.ResourceVersion != revision {
			return nil // it is not kept in etcd (componentstatuses), and shows what is now
		}
		return fmt.Errorf("GET %s is still answered", path)
	}
	return err
}

// listable returns the paths of all types of objects that can be listed.
func (a *api) listable(ctx context.Context) ([]string, error) {
	const discovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	var paths []string
	for _, root := range []string{"/api", "/apis"} {
		var found struct {
			Items []struct {
				Metadata struct{ Name string }
				Versions []struct {
					Version, Freshness string
					Resources          []struct {
						Resource string
						Verbs    []string
					}
				}
			}
		}
		if err := a.get(ctx, root, discovery, &found); err != nil {
			return nil, err
		}
		for _, group := range found.Items {
			for _, v := range group.Versions {
				if v.Freshness != "" && v.Freshness != "Current" {
					continue // served by somebody else, who does not answer
				}
				base := root + "/" + v.Version
				if group.Metadata.Name != "" {
					base = root + "/" + group.Metadata.Name + "/" + v.Version
				}
				for _, r := range v.Resources {
					for _, verb := range r.Verbs {
						if verb == "list" {
							paths = append(paths, base+"/"+r.Resource)
						}
					}
				}
			}
		}
	}
	return paths, nil
}
