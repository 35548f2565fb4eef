package repo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Output runs a command in dir with env added and returns its standard output.
// The error carries what the command wrote to standard error.
func Output(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		msg := strings.TrimSpace(stderr.String())
		return stdout.Bytes(), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, msg)
	}
	return stdout.Bytes(), nil
}

// GoEnv is the environment in which go runs for one module: no workspace, and
// none of the machine's own flags.
func GoEnv() []string { return []string{"GOWORK=off", "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local"} }

// Go runs the go command for the module at dir, outside the workspace.
func Go(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return Output(ctx, dir, GoEnv(), "go", args...)
}
