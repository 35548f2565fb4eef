// Guest looks after what the course has on somebody else's cluster. The runner
// builds it when CLUSTER=existing asks for it and runs it as a child: it has
// client-go, so whatever a kubeconfig can hold works, and the runner has not.
//
//	guest check --kubeconfig FILE [CRD…]        may the course work here?
//	guest clean --kubeconfig FILE --home DIR    take away what is the course's
//
// The answer is one JSON object on standard output; progress, and at last an
// "error:" line and a "hint:" line, go to standard error.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		if h := hintOf(err); h != "" {
			fmt.Fprintf(os.Stderr, "hint:  %s\n", h)
		}
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	kubeconfig := flags.String("kubeconfig", "", "")
	home := flags.String("home", "", "")
	timeout := flags.Duration("timeout", 3*time.Minute, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *kubeconfig == "" {
		return fmt.Errorf("%s: no --kubeconfig", command)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, *timeout, fmt.Errorf("not done after %s", *timeout))
	defer cancel()
	var answer any
	var err error
	switch command {
	case "check":
		answer, err = check(ctx, *kubeconfig, flags.Args())
	case "clean":
		if *home == "" {
			return fmt.Errorf("%s: no --home", command)
		}
		answer, err = clean(ctx, *kubeconfig, *home, func(format string, args ...any) {
			fmt.Fprintf(stderr, format+"\n", args...)
		})
	default:
		return fmt.Errorf("no command %q: %s", command, strings.Join([]string{"check", "clean"}, ", "))
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(answer)
}
