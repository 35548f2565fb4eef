package plane

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/supervise"
)

// LogsOptions says which logs to print.
type LogsOptions struct {
	Components []string // none: all
	Tail       int      // last lines of each to begin with
	Follow     bool     // until ctx ends
}

// Logs prints the components' logs; with more than one, each line begins with
// the component's name.
func (d Dir) Logs(ctx context.Context, out io.Writer, o LogsOptions) error {
	all := append(component.Names(), SupervisorName)
	names := o.Components
	if len(names) == 0 {
		names = all
	}
	offsets := make([]int64, len(names))
	for i, n := range names {
		if !slices.Contains(all, n) {
			return withHint(fmt.Errorf("no component %q", n), "there are: "+strings.Join(all, ", "))
		}
		if info, err := os.Stat(d.Log(n)); err == nil {
			offsets[i] = info.Size()
		}
		for _, l := range supervise.Tail(d.Log(n), o.Tail) {
			if err := printLine(out, names, n, l); err != nil {
				return err
			}
		}
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for o.Follow {
		for i, n := range names {
			lines, next := supervise.ReadFrom(d.Log(n), offsets[i])
			offsets[i] = next
			for _, l := range lines {
				if err := printLine(out, names, n, l); err != nil {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return nil
}

func printLine(out io.Writer, names []string, name, line string) error {
	if len(names) > 1 {
		line = fmt.Sprintf("%-24s %s", name, line)
	}
	_, err := fmt.Fprintln(out, line)
	return err
}
