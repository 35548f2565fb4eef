package cli

import (
	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/doctor"
	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "See whether this machine has what the course needs",
		Long: `doctor looks at the machine: Go, git, disk, memory, ports, the module proxy, the
clock, the cluster. A line each: ✓ it is well, ! to know about, ✗ it has to be
mended, with the mend on the next line. It changes nothing.

Exit code 0 when all that is needed is well, 1 when something has to be mended.`,
		Args: args(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.course()
			if err != nil {
				return err
			}
			p, err := a.provider(c)
			if err != nil {
				return err
			}
			r := doctor.Run(cmd.Context(), doctor.Options{Root: c.Root, Home: c.Home, Cluster: p})
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if asJSON {
				err = report.JSON(a.Stdout, r)
			} else {
				err = r.Text(a.Stdout, report.StyleFor(a.Stdout))
			}
			if err == nil && !r.OK {
				return judged{verdict.ExitFailed}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}
