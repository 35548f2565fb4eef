package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/controlplane/endpoint"
	"github.com/controllings/controllings/controlplane/plane"
)

// exitError ends the program with a code, and nothing more to say.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Upstream is what the supervisor needs of the programs that it runs.
type Upstream struct {
	Stages []byte // kwok's rules
	// Compact makes etcd forget its history; see plane.RunOptions.
	Compact func(context.Context) (int64, error)
}

// Execute runs the command line and returns the exit code.
func Execute(u Upstream) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := root(u).ExecuteContext(ctx)
	var code exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	if hint := hintOf(err); hint != "" {
		fmt.Fprintln(os.Stderr, "hint: ", hint)
	}
	return 1
}

func hintOf(err error) string {
	var ours *plane.Error
	var overWire *endpoint.Error
	switch {
	case errors.As(err, &ours):
		return ours.Hint
	case errors.As(err, &overWire):
		return overWire.Hint
	}
	return ""
}

func root(u Upstream) *cobra.Command {
	c := &cobra.Command{
		Use:           "controlplane",
		Short:         "Kubernetes in one binary, for one machine",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	c.CompletionOptions.DisableDefaultCmd = true
	c.AddCommand(up(), down(), status(), logs(), kubectl(), version(), supervise(u),
		oneComponent("restart", "Stop a component and start it again, and wait until it serves"),
		oneComponent("stop", "Stop a component, which stays down until it is started"),
		oneComponent("start", "Start a component, and wait until it serves"),
		oneComponent("kill", "Kill a component, as kill -9 does; the supervisor restarts it"),
		compact(), nodes(), restore())
	return c
}

// dirFlag adds --dir to a command.
func dirFlag(c *cobra.Command) *string {
	dir := c.Flags().String("dir", "", "folder that holds the control plane (required)")
	_ = c.MarkFlagRequired("dir")
	return dir
}
