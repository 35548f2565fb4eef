package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/cluster"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

func (a *app) clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Start, stop and look at the course's cluster",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return hint.New("up, down, status, logs, kubectl, load, restart, stop, start, kill, compact or nodes", "no command %q", cmd.CommandPath()+" "+args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(a.clusterUp(), a.clusterDown(), a.clusterStatus(), a.clusterLogs(), a.clusterKubectl(), a.clusterLoad(),
		a.clusterComponent("restart", "Restart a component, and wait until it serves"),
		a.clusterComponent("stop", "Stop a component; `lab cluster start` or `up` starts it again"),
		a.clusterComponent("start", "Start a component, and wait until it serves"),
		a.clusterComponent("kill", "Kill a component, as kill -9 does; it is restarted by itself"),
		a.clusterCompact(), a.clusterNodes())
	return cmd
}

// onCluster runs do with the provider that CLUSTER names.
func (a *app) onCluster(cmd *cobra.Command, do func(context.Context, cluster.Provider) error) error {
	c, err := a.course()
	if err != nil {
		return err
	}
	p, err := a.provider(c)
	if err != nil {
		return err
	}
	return do(cmd.Context(), p)
}

func (a *app) clusterUp() *cobra.Command {
	return &cobra.Command{
		Use: "up", Short: "Start it; the first time, build it", Args: args(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onCluster(cmd, func(ctx context.Context, p cluster.Provider) error {
				if err := p.Up(ctx); err != nil {
					return err
				}
				s, err := p.Status(ctx)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.Stdout, "cluster %s is up: Kubernetes %s at %s\n", p.Name(), s.Kubernetes, s.Server)
				return nil
			})
		},
	}
}

func (a *app) clusterDown() *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "Stop it; leave one that is not the course's own as it was", Args: args(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onCluster(cmd, func(ctx context.Context, p cluster.Provider) error {
				if err := p.Down(ctx); err != nil {
					return err
				}
				if _, ok := p.(cluster.Guest); ok {
					fmt.Fprintln(a.Stdout, "nothing of the course's is left on the clusters it was a guest of")
					return nil
				}
				fmt.Fprintf(a.Stdout, "cluster %s is down\n", p.Name())
				return nil
			})
		},
	}
}

func (a *app) clusterStatus() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "status", Short: "Say how it is: exit code 0 up, 1 down, 2 degraded", Args: args(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.onCluster(cmd, func(ctx context.Context, p cluster.Provider) error {
				s, err := p.Status(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					err = report.JSON(a.Stdout, s)
				} else {
					a.printState(s)
				}
				if err != nil {
					return err
				}
				switch s.State {
				case cluster.Up:
					return nil
				case cluster.Down:
					return judged{verdict.ExitFailed}
				default:
					return judged{verdict.ExitError}
				}
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}

func (a *app) printState(s cluster.State) {
	fmt.Fprintln(a.Stdout, strings.TrimSpace(fmt.Sprintf("%s is %s  %s  %s", s.Provider, s.State, s.Kubernetes, s.Server)))
	if s.Reason != "" {
		fmt.Fprintln(a.Stdout, "  "+s.Reason)
	}
	for _, c := range s.Components {
		line := fmt.Sprintf("  %-24s %-10s", c.Name, c.State)
		if c.PID > 0 {
			line += fmt.Sprintf(" pid %d", c.PID)
		}
		if c.Restarts > 0 {
			line += fmt.Sprintf("  restarted %d times", c.Restarts)
		}
		// How it last ended, unless somebody asked for that and it runs again.
		if c.Exit != "" && (c.PID == 0 || c.Restarts > 0) {
			line += "  " + c.Exit
		}
		fmt.Fprintln(a.Stdout, strings.TrimRight(line, " "))
		for _, l := range c.Log {
			fmt.Fprintln(a.Stdout, "      "+l)
		}
	}
}

func (a *app) clusterLogs() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use: "logs [COMPONENT]", Short: "Show what its components log", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onCluster(cmd, func(ctx context.Context, p cluster.Provider) error {
				l, ok := p.(cluster.Logger)
				if !ok {
					return fmt.Errorf("cluster %s keeps no logs here", p.Name())
				}
				component := ""
				if len(args) == 1 {
					component = args[0]
				}
				return l.Logs(ctx, a.Stdout, component, follow)
			})
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on as they grow")
	return cmd
}

func (a *app) clusterLoad() *cobra.Command {
	return &cobra.Command{
		Use: "load IMAGE", Short: "Take an image from this machine's Docker onto the nodes of a kind cluster", Args: args(1), DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onCluster(cmd, func(ctx context.Context, p cluster.Provider) error {
				l, ok := p.(cluster.Loader)
				if !ok {
					return hint.New("CLUSTER=kind has real nodes", "cluster %s runs no containers, so it takes no images", p.Name())
				}
				if err := l.Load(ctx, args[0]); err != nil {
					return err
				}
				fmt.Fprintf(a.Stdout, "loaded %s\n", args[0])
				return nil
			})
		},
	}
}

func (a *app) clusterKubectl() *cobra.Command {
	return &cobra.Command{
		Use: "kubectl [ARGUMENTS…]", Short: "Run kubectl on it; nothing needs to be installed",
		DisableFlagParsing: true, // they are kubectl's
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onCluster(cmd, func(ctx context.Context, p cluster.Provider) error {
				k, ok := p.(cluster.Kubectl)
				if !ok {
					return hint.New("use your own, with KUBECONFIG="+p.Kubeconfig(), "cluster %s brings no kubectl", p.Name())
				}
				err := k.Kubectl(ctx, args, a.Stdin, a.Stdout, a.Stderr)
				var exit *exec.ExitError
				if errors.As(err, &exit) { // it has said why
					return judged{exit.ExitCode()}
				}
				return err
			})
		},
	}
}
