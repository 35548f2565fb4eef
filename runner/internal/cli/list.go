package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/report"
)

func (a *app) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the chapters",
		Args:  args(0),
		RunE: func(*cobra.Command, []string) error {
			c, err := a.course()
			if err != nil {
				return err
			}
			list, err := c.List()
			if err != nil {
				return err
			}
			if asJSON {
				return report.JSON(a.Stdout, list)
			}
			for _, e := range list.Chapters {
				fmt.Fprintf(a.Stdout, "%3d  %-34s %3d min  %2d checks  %s\n", e.Number, e.Title, e.Minutes, e.Checks, e.Lesson)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}
