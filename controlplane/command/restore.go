package command

import (
	"fmt"

	"github.com/spf13/cobra"
)

func restore() *cobra.Command {
	c := &cobra.Command{
		Use: "restore", Short: "Start what is stopped or has failed, and remove the nodes that checks added",
		Args: cobra.NoArgs,
	}
	control := controlOf(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		client, err := control()
		if err != nil {
			return err
		}
		did, err := client.Restore(c.Context())
		if err != nil {
			return err
		}
		for _, line := range did {
			if _, err := fmt.Fprintln(c.OutOrStdout(), line); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}
