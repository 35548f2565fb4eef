package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/controlplane/endpoint"
)

func nodes() *cobra.Command {
	c := &cobra.Command{Use: "nodes", Short: "Add simulated nodes, or remove those that were added"}
	c.AddCommand(addNodes(), removeNodes())
	return c
}

func addNodes() *cobra.Command {
	c := &cobra.Command{Use: "add N", Short: "Add N simulated nodes, and wait until they are ready", Args: cobra.ExactArgs(1)}
	control := controlOf(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return fmt.Errorf("%q is no number of nodes", args[0])
		}
		client, err := control()
		if err != nil {
			return err
		}
		names, err := client.AddNodes(c.Context(), n, endpoint.ByUser)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "added %s\n", strings.Join(names, ", "))
		return err
	}
	return c
}

func removeNodes() *cobra.Command {
	c := &cobra.Command{Use: "remove", Short: "Remove the nodes that were added", Args: cobra.NoArgs}
	control := controlOf(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		client, err := control()
		if err != nil {
			return err
		}
		names, err := client.RemoveNodes(c.Context(), "")
		if err != nil {
			return err
		}
		what := "nothing: none were added"
		if len(names) > 0 {
			what = strings.Join(names, ", ")
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "removed %s\n", what)
		return err
	}
	return c
}
