// Lab runs the chapters of the course.
package main

import (
	"os"

	"github.com/controllings/controllings/runner/internal/cli"
	"github.com/controllings/controllings/runner/internal/cluster"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		OpenCluster: cluster.Open,
		Probe:       cluster.Probe,
	}))
}
