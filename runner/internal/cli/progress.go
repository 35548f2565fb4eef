package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/progress"
	"github.com/controllings/controllings/runner/internal/report"
)

func (a *app) progressCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "progress",
		Short: "Say how far you are, and where to go on",
		Long: `Say how far you are, as of your last run of each chapter, and where to go on.
Nothing is run. Where you have edited a chapter since, it says so.

It is kept in a plain text file: LAB_HOME/progress.`,
		Args: args(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.course()
			if err != nil {
				return err
			}
			all, err := a.standings(cmd.Context(), c)
			if err != nil {
				return err
			}
			report.Progress(a.Stdout, report.StyleFor(a.Stdout), all)
			return nil
		},
	}
}

// remembered is what lab remembers. Lines that it does not understand are told.
func (a *app) remembered(c *course.Course) (*progress.State, error) {
	s, err := progress.Load(c.Home)
	if err != nil {
		return nil, err
	}
	for _, line := range s.Damaged() {
		a.status("not understood, and kept as it is: " + report.Clean(line))
	}
	return s, nil
}

// standings are where the learner stands in each chapter, in order.
func (a *app) standings(ctx context.Context, c *course.Course) ([]progress.Standing, error) {
	chapters, err := c.Chapters()
	if err != nil {
		return nil, err
	}
	state, err := a.remembered(c)
	if err != nil {
		return nil, err
	}
	var all []progress.Standing
	for _, ch := range chapters {
		all = append(all, standing(ctx, c, ch, state))
	}
	return all, nil
}

func standing(ctx context.Context, c *course.Course, ch *course.Chapter, state *progress.State) progress.Standing {
	s := state.Standing(ch)
	if s.Ran {
		// Files that can't be read are not those that ran.
		now, err := answer.Digest(ctx, c, ch, answer.Name{Kind: answer.Mine})
		s.Edited = err != nil || now != s.Digest
	}
	return s
}
