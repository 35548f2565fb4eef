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
		Short: "List the chapters, and how far you are",
		Args:  args(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
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
			standings, err := a.standings(cmd.Context(), c)
			if err != nil {
				return err
			}
			for i, e := range list.Chapters {
				done := ""
				if s := standings[i]; s.Ran {
					done = "  " + report.Done(s)
				}
				stretch := ""
				if e.Stretch > 0 {
					stretch = fmt.Sprintf(", %d stretch", e.Stretch)
				}
				if e.StretchMinutes > 0 {
					stretch += fmt.Sprintf(" (%d min)", e.StretchMinutes)
				}
				fmt.Fprintf(a.Stdout, "%3d  %-34s %3d min  %2d steps%s  %s%s\n", e.Number, e.Title, e.Minutes, e.Checks, stretch, e.Lesson, done)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}
