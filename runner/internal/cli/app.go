// Package cli holds lab's commands, one file each: what they are called, their
// flags, and which room does the work.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/cluster"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/judge"
	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// Env is what a command touches of the world.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// OpenCluster and Probe are cluster.Open and cluster.Probe; lab's own tests
	// bring a cluster that is none.
	OpenCluster func(cluster.Options) (cluster.Provider, error)
	Probe       func(ctx context.Context, kubeconfig string) error
}

type app struct{ Env }

// judged ends a command whose verdict has been shown: only the exit code is left
// to say.
type judged struct{ code int }

func (j judged) Error() string { return fmt.Sprintf("exit code %d", j.code) }

// Main runs lab and returns its exit code.
func Main(args []string, env Env) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// With a broken pipe (lab run 1 | head) a run still ends in order.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// The first signal ends things in order, a second one at once.
	context.AfterFunc(ctx, stop)

	a := &app{env}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	return a.end(ctx, err)
}

func (a *app) end(ctx context.Context, err error) int {
	var j judged
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(a.Stderr, "\ninterrupted: no process was left running, and your files are as they were")
		return verdict.ExitInterrupted
	case err == nil:
		return verdict.ExitPassed
	case errors.As(err, &j):
		return j.code
	}
	style := report.StyleFor(a.Stderr)
	// An error may quote a submission.
	fmt.Fprintf(a.Stderr, "%s %s\n", style.Red("error:"), report.Clean(err.Error()))
	if h := hintOf(err); h != "" {
		fmt.Fprintf(a.Stderr, "%s  %s\n", style.Cyan("hint:"), strings.ReplaceAll(h, "\n", "\n       "))
	}
	return verdict.ExitError
}

// hintOf is the error's hint; of a machine's fault that can strike anywhere, a
// common one.
func hintOf(err error) string {
	switch h := hint.Of(err); {
	case h != "":
		return h
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full: free some space (`df -h` shows which disk), then run it again"
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return "lab writes to LAB_HOME (default: .lab in the course's folder) and to the folder for temporary files: make them writable, or set LAB_HOME and TMPDIR"
	default:
		return ""
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lab",
		Short: "Run the course's chapters: your code, judged against a real Kubernetes API server",
		Long: `lab runs your code of a chapter against a real Kubernetes API server and says
what is right, what is not, and where to look.

Results go to stdout, progress to stderr. Exit codes: 0 all required checks
passed, 1 some did not, 2 the course or the machine is at fault, 130 Ctrl-C.

Environment:
  CLUSTER          which cluster: embedded (default), kind or existing
  KIND_NODE_IMAGE  with CLUSTER=kind: the node image (default: the stock image, or
                   the one that make node-image built)
  LAB_CONTEXT      with CLUSTER=existing: the context, of the kubeconfig that
                   LAB_EXISTING_KUBECONFIG (or KUBECONFIG) names
  LAB_HOME         what lab keeps (default: .lab in the course's folder)
  LAB_ROOT         the course's folder (default: found from where you are)
  LAB_TIME_FACTOR  stretches every time limit (default: 1)
  NO_COLOR         no colours`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			next := "`lab --help` shows the commands"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				next = "did you mean `lab " + near[0] + "`?"
			}
			return hint.New(next, "no command %q", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return hint.New(fmt.Sprintf("`%s --help` shows the flags", cmd.CommandPath()), "%w", err)
	})
	root.AddCommand(a.runCommand(), a.solutionCommand(), a.resetCommand(), a.listCommand(),
		a.hintCommand(), a.progressCommand(), a.gradeCommand(),
		a.clusterCommand(), a.doctorCommand(), a.verifyCommand(), a.flakeCommand(), a.benchCommand(), a.authorCommand())
	for _, c := range root.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return root
}

// args wants n arguments, or says what the command takes.
func args(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return hint.New("usage: "+cmd.UseLine(), "%s takes %s, not %d", cmd.CommandPath(), []string{"no argument", "one argument", "two arguments"}[n], len(args))
	}
}

func (a *app) course() (*course.Course, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the course: %w", err)
	}
	return course.Open(wd, os.Getenv("LAB_ROOT"), os.Getenv("LAB_HOME"))
}

// chapter is the course and the chapter a person named.
func (a *app) chapter(name string) (*course.Course, *course.Chapter, error) {
	c, err := a.course()
	if err != nil {
		return nil, nil, err
	}
	ch, err := c.Chapter(name)
	return c, ch, err
}

func (a *app) provider(c *course.Course) (cluster.Provider, error) {
	return a.OpenCluster(cluster.Options{Root: c.Root, Home: c.Home, Name: os.Getenv("CLUSTER"), Status: a.Stderr})
}

func (a *app) judgeCluster(c *course.Course) (judge.Cluster, error) {
	p, err := a.provider(c)
	if err != nil {
		return judge.Cluster{}, err
	}
	// Before anything is compiled for a cluster that nobody named.
	if choice, ok := p.(cluster.Chooser); ok {
		if err := choice.Chosen(); err != nil {
			return judge.Cluster{}, err
		}
	}
	return judge.On(p, a.Probe, c.Home), nil
}

func (a *app) status(text string) { fmt.Fprintln(a.Stderr, text) }
