package command

import (
	"github.com/spf13/cobra"

	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/plane"
)

func logs() *cobra.Command {
	c := &cobra.Command{
		Use: "logs [COMPONENT]", Short: "Print the components' logs", Args: cobra.MaximumNArgs(1),
		ValidArgs: append(component.Names(), plane.SupervisorName),
	}
	dir := dirFlag(c)
	follow := c.Flags().BoolP("follow", "f", false, "go on with what is written from now on")
	tail := c.Flags().Int("tail", 50, "last lines of each log to begin with")
	c.RunE = func(c *cobra.Command, args []string) error {
		d, err := plane.Open(*dir)
		if err != nil {
			return err
		}
		return d.Logs(c.Context(), c.OutOrStdout(), plane.LogsOptions{Components: args, Tail: *tail, Follow: *follow})
	}
	return c
}
