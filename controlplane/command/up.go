package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/controlplane/plane"
)

func up() *cobra.Command {
	c := &cobra.Command{Use: "up", Short: "Start the control plane, and wait until it is usable", Args: cobra.NoArgs}
	dir := dirFlag(c)
	nodes := c.Flags().Int("nodes", 2, "simulated nodes")
	timeout := c.Flags().Duration("timeout", 2*time.Minute, "how long to wait until it is usable")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *nodes < 0 || *nodes > 1000 {
			return fmt.Errorf("--nodes: %d is not between 0 and 1000", *nodes)
		}
		if *timeout <= 0 {
			return errors.New("--timeout must be more than nothing")
		}
		d, err := plane.Open(*dir)
		if err != nil {
			return err
		}
		return d.Up(c.Context(), plane.UpOptions{
			Nodes: *nodes, Timeout: *timeout, Kubernetes: kubernetesVersion(), Progress: c.ErrOrStderr(),
		})
	}
	return c
}
