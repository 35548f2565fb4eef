package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/controlplane/plane"
)

// exitError ends the program with a code, and nothing more to say.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Execute runs the command line and returns the exit code. Stages are kwok's
// rules, for the supervisor.
func Execute(stages []byte) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := root(stages).ExecuteContext(ctx)
	var code exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	var known *plane.Error
	if errors.As(err, &known) && known.Hint != "" {
		fmt.Fprintln(os.Stderr, "hint: ", known.Hint)
	}
	return 1
}

func root(stages []byte) *cobra.Command {
	c := &cobra.Command{
		Use:           "controlplane",
		Short:         "Kubernetes in one binary, for one machine",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	c.CompletionOptions.DisableDefaultCmd = true
	c.AddCommand(up(), down(), status(), logs(), kubectl(), version(), supervise(stages))
	return c
}

// dirFlag adds --dir to a command.
func dirFlag(c *cobra.Command) *string {
	dir := c.Flags().String("dir", "", "folder that holds the control plane (required)")
	_ = c.MarkFlagRequired("dir")
	return dir
}
