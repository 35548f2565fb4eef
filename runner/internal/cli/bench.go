package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/bench"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
)

func (a *app) benchCommand() *cobra.Command {
	var which string
	var passes int
	var dry, check, render bool
	cmd := &cobra.Command{
		Use:   "bench [CHAPTER…]",
		Short: "Measure what a chapter's lesson claims in numbers",
		Long: `Run a chapter's benchmarks on the cluster, alone, once to warm up and then
several times, and write what comes of it: bench/bench.json, the lesson's tables
and their charts. Standard output holds the benchmarks' own lines, for benchstat.

Leave the machine alone meanwhile: what is compared is measured within the same
minutes, but not at the same time.`,
		Example: `  lab bench 1
  lab bench 1 --dry-run --answer mine
  lab bench --check`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, chapters, err := a.chapters(args)
			if err != nil {
				return err
			}
			if check || render {
				return a.fromWhatWasMeasured(c, chapters, check)
			}
			if len(args) != 1 {
				return hint.New("lab bench 1", "name one chapter to measure")
			}
			name, err := answer.ParseName(which)
			if err != nil {
				return err
			}
			if !dry && name.Kind != answer.Solution {
				return hint.New("add --dry-run to measure another answer and write nothing", "the lesson's numbers are those of the solution, not of %s", name)
			}
			on, err := a.judgeCluster(c)
			if err != nil {
				return err
			}
			ch := chapters[0]
			d, err := bench.Measure(cmd.Context(), bench.Options{
				Course: c, Chapter: ch, Answer: name, Cluster: on, Passes: passes,
				Lines: a.Stdout, Status: a.status,
			})
			if err != nil {
				return err
			}
			text, err := bench.Text(ch, d)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stderr, "\n%s", text)
			if dry {
				return nil
			}
			if err := bench.Save(ch, d); err != nil {
				return err
			}
			if err := bench.Write(ch); err != nil {
				return err
			}
			a.status(fmt.Sprintf("written: %s, the charts beside it, and the table in %s", c.Rel(bench.Path(ch)), c.Rel(ch.Lesson())))
			return nil
		},
	}
	cmd.Flags().StringVar(&which, "answer", "solution", "whose code is measured: mine, solution, alternatives/NAME, …")
	cmd.Flags().IntVar(&passes, "passes", 5, "how often everything is measured, after one pass to warm up")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the tables and write nothing")
	cmd.Flags().BoolVar(&check, "check", false, "measure nothing: do tables and charts say what bench.json does?")
	cmd.Flags().BoolVar(&render, "render", false, "measure nothing: write tables and charts from bench.json again")
	cmd.MarkFlagsMutuallyExclusive("check", "render", "dry-run")
	return cmd
}

// fromWhatWasMeasured compares, or writes, what bench.json says for chapters with
// benchmarks.
func (a *app) fromWhatWasMeasured(c *course.Course, chapters []*course.Chapter, check bool) error {
	differ := 0
	for _, ch := range chapters {
		if len(ch.Benches) == 0 {
			continue
		}
		if !check {
			if err := bench.Write(ch); err != nil {
				return err
			}
			continue
		}
		paths, err := bench.Check(ch)
		if err != nil {
			return err
		}
		for _, path := range paths {
			fmt.Fprintf(a.Stdout, "%s differs from what %s says\n", c.Rel(path), c.Rel(bench.Path(ch)))
		}
		differ += len(paths)
	}
	if differ > 0 {
		return hint.New("lab bench --render writes them anew", "%d files differ from what was measured", differ)
	}
	return nil
}
