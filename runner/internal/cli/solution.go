package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/progress"
	"github.com/controllings/controllings/runner/internal/report"
)

func (a *app) solutionCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "solution CHAPTER [STEP]",
		Short: "Show how your code differs from the worked solution",
		Long: `Show the way from your files to the worked solution's, as a diff: of all files, or
of those that a step is in.
It asks once a chapter, and remembers the answer.`,
		Args: chapterAndStep("solution", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, ch, err := a.chapter(args[0])
			if err != nil {
				return err
			}
			step := ""
			if len(args) == 2 {
				check, err := ch.FindCheck(args[1])
				if err != nil {
					return err
				}
				step = check.Step
			}
			state, err := progress.Load(c.Home)
			if err != nil {
				return err
			}
			if !yes && !state.SolutionSeen(ch.ID) {
				agreed, err := a.ask(cmd.Context(), fmt.Sprintf("Show the solution of chapter %d, %s?", ch.Number, ch.Title))
				if err != nil || !agreed {
					return err
				}
			}
			_, err = progress.Update(cmd.Context(), c.Home, func(s *progress.State) error { s.SetSolutionSeen(ch.ID); return nil })
			if err != nil {
				return err
			}
			style := report.StyleFor(a.Stdout)
			diff, err := answer.Diff(cmd.Context(), c, ch, step, style.On())
			if err != nil {
				return err
			}
			if diff == "" {
				a.status(strings.TrimSuffix("your files are the solution's, of step "+step, ", of step "))
			}
			fmt.Fprint(a.Stdout, diff)
			a.status(fmt.Sprintf("why it is so: %s/README.md", c.Rel(ch.Solution)))
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// ask asks a question that is answered with y or n. Where nobody can be asked it
// is an error.
func (a *app) ask(ctx context.Context, question string) (bool, error) {
	in, ok := a.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return false, hint.New("add --yes", "no terminal here to ask on: %s", question)
	}
	fmt.Fprintf(a.Stderr, "%s You learn most from what you try first. [y/N] ", question)
	answered := make(chan string, 1)
	go func() { // a read can't be interrupted, so Ctrl-C leaves it behind
		line, _ := bufio.NewReader(in).ReadString('\n')
		answered <- line
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case line := <-answered:
		yes := strings.ToLower(strings.TrimSpace(line))
		return yes == "y" || yes == "yes", nil
	}
}
