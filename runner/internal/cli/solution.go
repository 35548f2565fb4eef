package cli

import (
	"bufio"
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
		Use:   "solution CHAPTER",
		Short: "Show how your code differs from the worked solution",
		Long: `Show the way from your files to the worked solution's, as a diff.
It asks once a chapter, and remembers the answer.`,
		Args: args(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, ch, err := a.chapter(args[0])
			if err != nil {
				return err
			}
			state, err := progress.Load(c.Home)
			if err != nil {
				return err
			}
			if !yes && !state.SolutionSeen(ch.ID) {
				agreed, err := a.ask(fmt.Sprintf("Show the solution of chapter %d, %s?", ch.Number, ch.Title))
				if err != nil || !agreed {
					return err
				}
			}
			if err := state.SetSolutionSeen(ch.ID); err != nil {
				return err
			}
			style := report.StyleFor(a.Stdout)
			diff, err := answer.Diff(cmd.Context(), c, ch, style.On())
			if err != nil {
				return err
			}
			if diff == "" {
				a.status("your files are the solution's")
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
func (a *app) ask(question string) (bool, error) {
	in, ok := a.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return false, hint.New("add --yes", "%s There is nobody to ask here", question)
	}
	fmt.Fprintf(a.Stderr, "%s You learn most from what you try first. [y/N] ", question)
	line, _ := bufio.NewReader(in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}
