package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/proof"
	"github.com/controllings/controllings/runner/internal/verdict"
)

func (a *app) authorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "author",
		Short: "For authors: write stubs, mistakes and alternatives, which are patches",
		Long: `Every answer but the learner's own is the solution plus a patch. To write one:

  lab author edit 1 mistakes/lists-everything   lays the answer out under .lab/author
  …                                             edit its files and patch-head.txt there
  lab author save 1 mistakes/lists-everything   writes the patch again
  lab run 1 --answer mistakes/lists-everything  shows what the learner would see

After a change of the solution, "lab author rebase 1" carries all patches over.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.authorEdit(), a.authorSave(), a.authorRebase(), a.authorCheck())
	return cmd
}

func (a *app) authorEdit() *cobra.Command {
	var again bool
	cmd := &cobra.Command{
		Use: "edit CHAPTER stub|mistakes/NAME|alternatives/NAME", Short: "Lay an answer out to be edited", Args: args(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, ch, n, err := a.authored(args)
			if err != nil {
				return err
			}
			dir, err := answer.Edit(cmd.Context(), c, ch, n, again)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.Stdout, c.Rel(dir))
			a.status(fmt.Sprintf("edit the files there, and %s; then: lab author save %d %s", answer.HeadFile, ch.Number, n))
			return nil
		},
	}
	cmd.Flags().BoolVar(&again, "again", false, "throw away changes that were not saved")
	return cmd
}

// authored reads the arguments CHAPTER ANSWER.
func (a *app) authored(args []string) (*course.Course, *course.Chapter, answer.Name, error) {
	c, ch, err := a.chapter(args[0])
	if err != nil {
		return nil, nil, answer.Name{}, err
	}
	n, err := answer.ParseName(args[1])
	return c, ch, n, err
}

func (a *app) authorSave() *cobra.Command {
	return &cobra.Command{
		Use: "save CHAPTER stub|mistakes/NAME|alternatives/NAME", Short: "Write the patch of a laid-out answer", Args: args(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, ch, n, err := a.authored(args)
			if err != nil {
				return err
			}
			patch, err := answer.Save(cmd.Context(), c, ch, n)
			if err != nil {
				return err
			}
			fmt.Fprintln(a.Stdout, c.Rel(patch))
			return nil
		},
	}
}

func (a *app) authorRebase() *cobra.Command {
	return &cobra.Command{
		Use: "rebase CHAPTER", Short: "Carry all patches over a change of the solution", Args: args(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, ch, err := a.chapter(args[0])
			if err != nil {
				return err
			}
			done, err := answer.Rebase(cmd.Context(), c, ch)
			conflicts := 0
			for _, r := range done {
				switch {
				case r.Desk != "":
					conflicts++
					fmt.Fprintf(a.Stdout, "conflict   %s: solve it in %s, then: lab author save %d %s\n", r.Name, c.Rel(r.Desk), ch.Number, r.Name)
				case r.Moved:
					fmt.Fprintf(a.Stdout, "written    %s\n", r.Name)
				default:
					fmt.Fprintf(a.Stdout, "unchanged  %s\n", r.Name)
				}
			}
			if err != nil {
				return err
			}
			if conflicts > 0 {
				return judged{verdict.ExitFailed}
			}
			return nil
		},
	}
}

func (a *app) authorCheck() *cobra.Command {
	var stubs bool
	cmd := &cobra.Command{
		Use: "check [CHAPTER…]", Short: "Read the chapters' files without running them",
		Long: `Read the chapters' files without running them: hints, TODOs, declared tests,
stray files, the lesson's headings, the patches' heads, the exported API.
"lab verify" does this too. With --stubs, also prove that the committed exercise
is exactly the solution plus stub.patch (in a learner's clone it is not).`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, chapters, err := a.chapters(args)
			if err != nil {
				return err
			}
			bad := 0
			for _, ch := range chapters {
				lint, err := proof.Lint(cmd.Context(), c, ch)
				if err != nil {
					return err
				}
				if stubs {
					lint.Problems = append(lint.Problems, proof.Stubs(cmd.Context(), c, ch)...)
				}
				if ch.Complete {
					lint.Problems = append(lint.Problems, lint.Missing...)
					lint.Missing = nil
				}
				for _, p := range lint.Problems {
					fmt.Fprintf(a.Stdout, "%s: %s\n", ch.ID, p)
				}
				for _, m := range lint.Missing {
					a.status(fmt.Sprintf("%s: still missing: %s", ch.ID, m))
				}
				bad += len(lint.Problems)
			}
			if bad > 0 {
				return judged{verdict.ExitFailed}
			}
			a.status("nothing to mend")
			return nil
		},
	}
	cmd.Flags().BoolVar(&stubs, "stubs", false, "the committed stubs too")
	return cmd
}
