package doctor

import (
	"context"
	"os"

	"github.com/controllings/controllings/runner/internal/cluster"
	"github.com/controllings/controllings/runner/internal/hint"
)

// clusterState asks the cluster how it is. One that is down is well: a chapter
// starts it.
func clusterState(ctx context.Context, o Options) Finding {
	const restart = "make cluster-down cluster-up"
	name := o.Cluster.Name()
	if choice, ok := o.Cluster.(cluster.Chooser); ok {
		if err := choice.Chosen(); err != nil {
			return failed(hint.Of(err), "%s: %v", name, err)
		}
	}
	s, err := o.Cluster.Status(ctx)
	if err != nil {
		return failed(restart, "%s: %v", name, err)
	}
	switch s.State {
	case cluster.Up:
		return ok("%s is up: Kubernetes %s at %s", name, s.Kubernetes, s.Server)
	case cluster.Degraded:
		return failed(restart, "%s is up, but not well: %s", name, firstLine(s.Reason))
	}
	if name == "embedded" && !built(o) {
		return ok("embedded is not built yet: the first make chapter-1 does that, once, in about 15 minutes on two cores")
	}
	// Of several kinds of cluster, the file is the current one's: only the one that
	// comes with the course leaves it behind when it ends out of order.
	if _, err := os.Stat(o.Cluster.Kubeconfig()); err == nil && name == "embedded" {
		return warn("make cluster-down clears up after it, or run a chapter: it starts it again", "%s is down, and did not end in order: its kubeconfig is still there", name)
	}
	return ok("%s is down: a chapter starts it", name)
}
