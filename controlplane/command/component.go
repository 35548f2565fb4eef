package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/endpoint"
	"github.com/controllings/controllings/controlplane/plane"
)

// done is what a verb has done.
var done = map[string]string{"restart": "restarted", "stop": "stopped", "start": "started", "kill": "killed"}

// oneComponent is a command that does a verb to a component.
func oneComponent(verb, short string) *cobra.Command {
	c := &cobra.Command{Use: verb + " COMPONENT", Short: short, Args: cobra.ExactArgs(1), ValidArgs: component.Names()}
	control := controlOf(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		client, err := control()
		if err != nil {
			return err
		}
		if err := client.Component(c.Context(), verb, args[0]); err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s %s\n", done[verb], args[0])
		return err
	}
	return c
}

// controlOf adds --dir to a command, and returns what finds the control endpoint
// of the control plane in that folder.
func controlOf(c *cobra.Command) func() (*endpoint.Client, error) {
	dir := dirFlag(c)
	return func() (*endpoint.Client, error) {
		d, err := plane.Open(*dir)
		if err != nil {
			return nil, err
		}
		return d.Control()
	}
}
