package command

import (
	"github.com/spf13/cobra"

	"github.com/controllings/controllings/controlplane/plane"
)

func down() *cobra.Command {
	c := &cobra.Command{Use: "down", Short: "Stop the control plane; its data stays", Args: cobra.NoArgs}
	dir := dirFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		d, err := plane.Open(*dir)
		if err != nil {
			return err
		}
		return d.Down(c.Context())
	}
	return c
}
