package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/judge"
	"github.com/controllings/controllings/runner/internal/progress"
	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

func (a *app) runCommand() *cobra.Command {
	var which string
	var timings, verbose bool
	cmd := &cobra.Command{
		Use:   "run CHAPTER [STEP]",
		Short: "Run a chapter's checks, or one step's, against your code",
		Example: `  lab run 1
  lab run 1 1.2
  lab run 1 --answer solution
  lab run 1 --answer mistakes/lists-everything`,
		Args: chapterAndStep("run", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := answer.ParseName(which)
			if err != nil {
				return err
			}
			c, ch, err := a.chapter(args[0])
			if err != nil {
				return err
			}
			on, err := a.judgeCluster(c)
			if err != nil {
				return err
			}
			text := a.text(c, ch)
			text.Verbose = verbose
			var only []string
			if len(args) == 2 {
				check, err := ch.FindCheck(args[1])
				if err != nil {
					return err
				}
				only = []string{check.Test}
				text.Whole = text.Command
				text.Command += " STEP=" + check.Step
			}
			r, t, err := judge.Run(cmd.Context(), judge.Options{
				Course: c, Chapter: ch, Answer: name, Cluster: on, Only: only,
				Begin: text.Begin, Done: text.Check, Status: a.status,
			})
			if err != nil {
				return err
			}
			start := time.Now()
			text.End(r)
			if name.Kind == answer.Mine && only == nil {
				a.remember(cmd.Context(), c, r)
			}
			if timings {
				fmt.Fprintf(a.Stderr, "timings: %s, report %v\n", t, time.Since(start).Round(time.Millisecond))
			}
			if code := r.Exit(); code != verdict.ExitPassed {
				return judged{code}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&which, "answer", "mine", "mine, stub, solution, mistakes/NAME or alternatives/NAME")
	cmd.Flags().BoolVar(&timings, "timings", false, "say where the time went")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show all that the first failing check's process wrote")
	return cmd
}

// remember keeps what a learner's run said. A run that did not compile said
// nothing about the checks. The verdict has been shown: that it could not be kept
// is told, and changes nothing of it.
func (a *app) remember(ctx context.Context, c *course.Course, r *verdict.Result) {
	if r.Build != nil {
		return
	}
	_, err := progress.Update(ctx, c.Home, func(s *progress.State) error { s.SetRun(r, time.Now()); return nil })
	if err != nil {
		a.status(fmt.Sprintf("this run is not remembered for make progress: %v", err))
	}
}

// text is the report of a chapter, told where its lesson is and what comes next.
func (a *app) text(c *course.Course, ch *course.Chapter) *report.Text {
	t := &report.Text{
		W: a.Stdout, Style: report.StyleFor(a.Stdout),
		Lesson:      c.Rel(ch.Lesson()),
		Command:     fmt.Sprintf("make chapter-%d", ch.Number),
		Walkthrough: c.Rel(filepath.Join(ch.Solution, "README.md")),
	}
	if next := c.After(ch); next != nil {
		t.Next = c.Rel(next.Lesson())
		t.NextCommand = fmt.Sprintf("make chapter-%d", next.Number)
	}
	return t
}
