// The program behind scripts/verify and scripts/update.
//
//	house verify SUBJECT|all    say what is wrong, change nothing
//	house update SUBJECT|all    write what is generated
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

func main() {
	root := flag.String("root", "../..", "the course's checkout")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := repo.Open(*root)
	if err == nil {
		err = run(ctx, r, flag.Arg(0), flag.Arg(1))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
