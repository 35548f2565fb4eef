package judge

import (
	"context"
	"io"

	"github.com/controllings/controllings/runner/internal/cluster"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// On is the cluster of a provider, as the judge needs it.
func On(p cluster.Provider, probe func(ctx context.Context, kubeconfig string) error, home string) Cluster {
	on := Cluster{
		Kubeconfig: p.Kubeconfig(),
		Home:       home,
		Probe:      func(ctx context.Context) error { return probe(ctx, p.Kubeconfig()) },
		Up: func(ctx context.Context) (verdict.Cluster, error) {
			info := verdict.Cluster{Provider: p.Name()}
			if err := p.Up(ctx); err != nil {
				return info, err
			}
			s, err := p.Status(ctx)
			info.Kubernetes = s.Kubernetes
			return info, err
		},
	}
	if c, ok := p.(cluster.Controller); ok {
		on.Can, on.Control = c.Can(), c.ControlFile()
		on.Restore = func(ctx context.Context) error { return c.Restore(ctx, io.Discard) }
	}
	return on
}
