package command

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/controlplane/plane"
)

// supervise is the supervisor; only up starts it, with the descriptors that it
// expects.
func supervise(u Upstream) *cobra.Command {
	c := &cobra.Command{Use: plane.SuperviseCommand, Hidden: true, Args: cobra.NoArgs}
	dir := dirFlag(c)
	nodes := c.Flags().Int("nodes", 2, "")
	timeout := c.Flags().Duration("timeout", 2*time.Minute, "")
	c.RunE = func(*cobra.Command, []string) error {
		return plane.Dir(*dir).Run(plane.RunOptions{
			Nodes: *nodes, Timeout: *timeout, Kubernetes: kubernetesVersion(), Stages: u.Stages, Compact: u.Compact,
		})
	}
	return c
}
