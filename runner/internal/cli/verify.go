package cli

import (
	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/proof"
	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

func (a *app) verifyCommand() *cobra.Command {
	var asJSON, short bool
	cmd := &cobra.Command{
		Use:   "verify [CHAPTER…]",
		Short: "For authors: prove that the chapters' checks can be trusted",
		Long: `Prove for each chapter, or for those named: the untouched stubs compile and
no step is started; the solution passes, with the race detector where there is a
C compiler; each alternative passes; each mistake is rejected by the check that
its head names, with the words named there; and the chapter's files are whole.

With --short, stubs and solutions alone, without the race detector.

A chapter whose chapter.yaml says "complete: false" may still lack mistakes,
alternatives and hints: what is missing is listed and does not fail.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, chapters, err := a.chapters(args)
			if err != nil {
				return err
			}
			on, err := a.judgeCluster(c)
			if err != nil {
				return err
			}
			r, err := proof.Verify(cmd.Context(), proof.Options{Course: c, Chapters: chapters, Cluster: on, Short: short, Status: a.status})
			if err != nil {
				return err
			}
			if asJSON {
				if err := report.JSON(a.Stdout, r); err != nil {
					return err
				}
			} else {
				r.Text(a.Stdout, report.StyleFor(a.Stdout))
			}
			if code := r.Exit(); code != verdict.ExitPassed {
				return judged{code}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	cmd.Flags().BoolVar(&short, "short", false, "stubs and solutions alone: for a cluster on which all of it would take too long")
	return cmd
}

// chapters are those that a person named; all if none.
func (a *app) chapters(names []string) (*course.Course, []*course.Chapter, error) {
	c, err := a.course()
	if err != nil {
		return nil, nil, err
	}
	var chapters []*course.Chapter
	if len(names) == 0 {
		chapters, err = c.Chapters()
	}
	for _, n := range names {
		ch, err := c.Chapter(n)
		if err != nil {
			return nil, nil, err
		}
		chapters = append(chapters, ch)
	}
	if err == nil && len(chapters) == 0 {
		err = hint.New("is this a whole clone of the course?", "there is no chapter in %s", c.Root)
	}
	return c, chapters, err
}
