package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/cluster"
	"github.com/controllings/controllings/runner/internal/hint"
)

// onController runs do with the provider that CLUSTER names, if it can be
// controlled at all.
func (a *app) onController(cmd *cobra.Command, do func(context.Context, cluster.Controller) error) error {
	return a.onCluster(cmd, func(ctx context.Context, p cluster.Provider) error {
		c, ok := p.(cluster.Controller)
		if !ok {
			return hint.New("the embedded one can: CLUSTER=embedded "+cmd.CommandPath(), "cluster %s can't do this: %s", p.Name(), cmd.CommandPath())
		}
		return do(ctx, c)
	})
}

func (a *app) clusterComponent(verb, short string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " COMPONENT", Short: short, Args: args(1), DisableFlagsInUseLine: true,
		Example: "  lab cluster " + verb + " kube-apiserver",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onController(cmd, func(ctx context.Context, c cluster.Controller) error {
				return c.Component(ctx, a.Stdout, verb, args[0])
			})
		},
	}
}

func (a *app) clusterCompact() *cobra.Command {
	return &cobra.Command{
		Use: "compact", Short: "Make the API server forget the past: old revisions and continue tokens get 410 Expired", Args: args(0),
		Long: `Compact etcd to its current revision, and wait until the API server has
forgotten too, which takes it up to 15 seconds. Then a list at an older
resourceVersion, and one continued from before, gets 410 Expired. A watch from an
old resourceVersion is served from the API server's memory, which a restart
clears: lab cluster restart kube-apiserver.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onController(cmd, func(ctx context.Context, c cluster.Controller) error {
				return c.Compact(ctx, a.Stdout)
			})
		},
	}
}

func (a *app) clusterNodes() *cobra.Command {
	cmd := &cobra.Command{
		Use: "nodes", Short: "Add simulated nodes, or remove those that were added",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return hint.New("add N, or remove", "no command %q", cmd.CommandPath()+" "+args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "add N", Short: "Add N nodes, and wait until they are ready", Args: args(1), DisableFlagsInUseLine: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				n, err := strconv.Atoi(args[0])
				if err != nil {
					return hint.New("between 1 and 1000", "%q is no number of nodes", args[0])
				}
				return a.onController(cmd, func(ctx context.Context, c cluster.Controller) error {
					return c.AddNodes(ctx, a.Stdout, n)
				})
			},
		},
		&cobra.Command{
			Use: "remove", Short: "Remove the nodes that were added", Args: args(0),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return a.onController(cmd, func(ctx context.Context, c cluster.Controller) error {
					return c.RemoveNodes(ctx, a.Stdout)
				})
			},
		},
	)
	return cmd
}
