package upstream

import (
	"context"
	"fmt"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/controllings/controllings/controlplane/component"
)

// compactKey is where the API servers of a cluster tell each other up to which
// revision etcd was compacted; they watch it. From k8s.io/apiserver,
// storage/etcd3/compact.go.
const compactKey = "compact_rev_key"

// Compact makes etcd forget all that was before, and tells the API server so,
// as API servers tell each other every five minutes. It returns the oldest
// revision that is left. The working directory must be the control plane's
// folder: the socket's path is relative.
func Compact(ctx context.Context) (int64, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{component.EtcdSocket}, Context: ctx})
	if err != nil {
		return 0, fmt.Errorf("open a connection: %w", err)
	}
	defer c.Close()
	tell := func(compacted int64) (now int64, err error) {
		put, err := c.Put(ctx, compactKey, strconv.FormatInt(compacted, 10))
		if err != nil {
			return 0, err
		}
		return put.Header.Revision, nil
	}
	got, err := c.Get(ctx, compactKey)
	if err != nil {
		return 0, err
	}
	// etcd keeps the revision that it is compacted to, and somebody may have seen
	// the current one. This write makes that one old.
	left, err := tell(got.Header.Revision)
	if err != nil {
		return 0, err
	}
	if _, err := tell(left); err != nil {
		return 0, err
	}
	if _, err := c.Compact(ctx, left); err != nil {
		return 0, err
	}
	return left, nil
}
