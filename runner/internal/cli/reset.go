package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/progress"
)

func (a *app) resetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reset CHAPTER",
		Short: "Begin a chapter again; your work is kept as a dated copy",
		Args:  args(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, ch, err := a.chapter(args[0])
			if err != nil {
				return err
			}
			kept, err := answer.Reset(cmd.Context(), c, ch, time.Now())
			if kept != "" {
				fmt.Fprintf(a.Stdout, "your work is kept in %s\n", c.Rel(kept))
			}
			if err != nil {
				return err
			}
			_, err = progress.Update(cmd.Context(), c.Home, func(s *progress.State) error { s.Forget(ch.ID); return nil })
			if err != nil {
				return err
			}
			if kept == "" {
				fmt.Fprintf(a.Stdout, "%s is as it was in the beginning\n", c.Rel(ch.Dir))
				return nil
			}
			fmt.Fprintf(a.Stdout, "%s is as it was in the beginning: read its README.md, then make chapter-%d\n", c.Rel(ch.Dir), ch.Number)
			return nil
		},
	}
}
