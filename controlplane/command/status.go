package command

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/controlplane/plane"
)

func status() *cobra.Command {
	c := &cobra.Command{
		Use: "status", Short: "Say how the control plane is", Args: cobra.NoArgs,
		Long: "Say how the control plane is. Exit status: 0 up, 1 down, 2 degraded.",
	}
	dir := dirFlag(c)
	asJSON := c.Flags().Bool("json", false, "print one JSON object")
	c.RunE = func(c *cobra.Command, _ []string) error {
		d, err := plane.Open(*dir)
		if err != nil {
			return err
		}
		st := d.Status(c.Context())
		if *asJSON {
			e := json.NewEncoder(c.OutOrStdout())
			e.SetIndent("", "  ")
			err = e.Encode(st)
		} else {
			err = printStatus(c.OutOrStdout(), st)
		}
		if err != nil {
			return err
		}
		switch st.State {
		case plane.Up:
			return nil
		case plane.Down:
			return exitError(1)
		default:
			return exitError(2)
		}
	}
	return c
}

func printStatus(out io.Writer, st plane.Status) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := string(st.State)
	if st.Reason != "" {
		line += ": " + st.Reason
	}
	if st.Server != "" {
		line += fmt.Sprintf("  (Kubernetes %s at %s)", st.Kubernetes, st.Server)
	}
	fmt.Fprintln(w, line)
	for _, c := range st.Components {
		pid := "-"
		if c.PID != 0 {
			pid = fmt.Sprint(c.PID)
		}
		fmt.Fprintf(w, "  %s\t%s\tpid %s\trestarts %d\t%s\n", c.Name, c.State, pid, c.Restarts, c.Exit)
		for _, l := range c.Log {
			fmt.Fprintf(w, "    │ %s\n", l)
		}
	}
	return w.Flush()
}
