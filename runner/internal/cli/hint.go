package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/progress"
	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

func (a *app) hintCommand() *cobra.Command {
	var again bool
	cmd := &cobra.Command{
		Use:   "hint [CHAPTER [STEP]]",
		Short: "Show the next hint, of the step to look at or of the one you name",
		Long: `Show the next hint of the first check that did not pass in your last run, or of
the one that you name by its step or its test. The hints of a step go from a
nudge to nearly the answer, one at a time. Without a chapter it is the one where
lab progress says to go on.`,
		Example: `  lab hint
  lab hint 1
  lab hint 1 1.2
  lab hint 1 1.2 --again`,
		Args: chapterAndStep("hint", 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, ch, err := a.chapterOrNext(cmd.Context(), args)
			if err != nil {
				return err
			}
			step := ""
			if len(args) == 2 {
				step = args[1]
			}
			return a.hint(cmd.Context(), c, ch, step, again)
		},
	}
	cmd.Flags().BoolVar(&again, "again", false, "show those that you were shown, and no new one")
	return cmd
}

// chapterOrNext is the chapter that the first argument names; without one, it is
// where to go on, and the last chapter if all are done.
func (a *app) chapterOrNext(ctx context.Context, args []string) (*course.Course, *course.Chapter, error) {
	if len(args) > 0 {
		return a.chapter(args[0])
	}
	c, err := a.course()
	if err != nil {
		return nil, nil, err
	}
	all, err := a.standings(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		return nil, nil, hint.New("is this a whole clone?", "the course has no chapters")
	}
	if next := progress.Next(all); next != nil {
		return c, next.Chapter, nil
	}
	return c, all[len(all)-1].Chapter, nil
}

// chapterAndStep wants at least that many of a chapter and a step.
func chapterAndStep(command string, atLeast int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < atLeast || len(args) > 2 {
			return hint.New(fmt.Sprintf("usage: lab %s CHAPTER [STEP]", command), "lab %s takes a chapter, and a step if you like, not %d arguments", command, len(args))
		}
		return nil
	}
}

func (a *app) hint(ctx context.Context, c *course.Course, ch *course.Chapter, step string, again bool) error {
	state, err := a.remembered(c)
	if err != nil {
		return err
	}
	check, note, err := toLookAt(standing(ctx, c, ch, state), step)
	if err != nil {
		return err
	}
	if check == nil {
		fmt.Fprintln(a.Stdout, note)
		return nil
	}
	of := len(check.Hints)
	h := report.Hint{
		Step: check.Step, Title: check.Title, Note: note, Of: of,
		Why:      place(c, ch.StepHeading, check.Step),
		Wild:     place(c, ch.FindHeading, "README.md#what-goes-wrong-in-the-wild"),
		Command:  fmt.Sprintf("make hint-%d", ch.Number),
		Again:    fmt.Sprintf("bin/lab hint %d %s --again", ch.Number, check.Step),
		Solution: fmt.Sprintf("make solution-%d", ch.Number),
		Run:      fmt.Sprintf("make chapter-%d", ch.Number),
	}
	if step != "" {
		h.Command += " STEP=" + check.Step
	}
	shown := min(state.Hints(ch.ID, check.Test), of)
	if again {
		h.From, h.Hints = 1, check.Hints[:shown]
		if shown == 0 {
			return hint.New(h.Command+" shows the first", "you were shown no hint of step %s yet", check.Step)
		}
	} else {
		// Counted under the lock, so that two terminals get two hints.
		_, err := progress.Update(ctx, c.Home, func(s *progress.State) error {
			shown = min(s.Hints(ch.ID, check.Test)+1, of+1)
			s.SetHints(ch.ID, check.Test, min(shown, of))
			return nil
		})
		if err != nil {
			return err
		}
		h.From = shown
		if shown <= of {
			h.Hints = check.Hints[shown-1 : shown]
		}
	}
	h.Write(a.Stdout, report.StyleFor(a.Stdout))
	return nil
}

// toLookAt is the check to show a hint of, and a sentence on why. nil says that
// there is none, and the sentence why not.
func toLookAt(s progress.Standing, step string) (*course.Check, string, error) {
	if step != "" {
		check, err := s.Chapter.FindCheck(step)
		return check, "", err
	}
	n := s.Chapter.Number
	if !s.Ran {
		// Whoever asks before the first run is at the first step.
		return &s.Chapter.Checks[0], fmt.Sprintf("there is no run of chapter %d to go by yet, so this is its first step", n), nil
	}
	as := "as of your last run"
	if s.Edited {
		as += fmt.Sprintf("; you have edited since, and make chapter-%d looks again", n)
	}
	// A hint is about the code: what was no fault of it comes last.
	var wrong []verdict.Check
	for _, c := range s.Result.Checks {
		if c.Status == verdict.Failed || c.Status == verdict.NotStarted {
			wrong = append(wrong, c)
		}
	}
	if len(wrong) == 0 {
		wrong = s.Result.Checks
	}
	first := verdict.First(wrong)
	if first == nil {
		return nil, fmt.Sprintf("nothing to hint at in chapter %d: every check passed, %s", n, as), nil
	}
	return s.Chapter.Check(first.Test), as, nil
}

// place is a place in the lesson, as a person is told it; "" if it is not there.
func place(c *course.Course, find func(string) (string, course.Heading, bool), what string) string {
	file, h, ok := find(what)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d, “%s”", c.Rel(file), h.Line, h.Text)
}
