package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/proof"
	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

func (a *app) flakeCommand() *cobra.Command {
	var (
		o      proof.FlakeOptions
		asJSON bool
		names  []string
	)
	cmd := &cobra.Command{
		Use:   "flake [CHAPTER…]",
		Short: "For authors: find verdicts that change from run to run",
		Long: `Judge each answer whose verdict is known (stubs, solution, alternatives,
mistakes) many times, while every core is kept busy, with the time limits as they
are. One wrong verdict is a failure; nothing is tried again.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, chapters, err := a.chapters(args)
			if err != nil {
				return err
			}
			if o.Runs < 1 {
				return hint.New("25 is the rule", "--runs is a number from 1 up, not %d", o.Runs)
			}
			for _, s := range names {
				n, err := answer.ParseName(s)
				if err != nil {
					return err
				}
				if n.Kind == answer.Mine {
					return hint.New("`lab run` judges it", "nobody knows what the verdict on %q should be", s)
				}
				o.Answers = append(o.Answers, n)
			}
			on, err := a.judgeCluster(c)
			if err != nil {
				return err
			}
			o.Options = proof.Options{Course: c, Chapters: chapters, Cluster: on, Status: a.status}
			style := report.StyleFor(a.Stdout)
			if !asJSON {
				o.Each = func(_ *course.Chapter, r proof.Repeated) { r.Text(a.Stdout, style) }
			}
			r, err := proof.Flake(cmd.Context(), o)
			if err != nil {
				return err
			}
			if asJSON {
				if err := report.JSON(a.Stdout, r); err != nil {
					return err
				}
			} else {
				fmt.Fprintf(a.Stdout, "\n%d runs, %d wrong verdicts\n", r.Runs, r.Wrong)
			}
			if code := r.Exit(); code != verdict.ExitPassed {
				return judged{code}
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&o.Runs, "runs", 25, "how often each answer is judged")
	cmd.Flags().BoolVar(&o.Idle, "idle", false, "leave the cores alone")
	cmd.Flags().StringArrayVar(&names, "answer", nil, "only this answer: stub, solution, mistakes/NAME or alternatives/NAME (may be repeated)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}
