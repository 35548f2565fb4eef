package proof

import (
	"fmt"
	"io"

	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// Text shows a report to a person.
func (r *Report) Text(w io.Writer, s report.Style) {
	mark := func(ok bool) string {
		if ok {
			return s.Green("✓")
		}
		return s.Red("✗")
	}
	for _, c := range r.Chapters {
		fmt.Fprintf(w, "%s\n", s.Bold(c.Chapter))
		one := func(label, good string, o Outcome) {
			if o.OK {
				fmt.Fprintf(w, "  %s %-13s %s\n", mark(true), label, good)
				return
			}
			fmt.Fprintf(w, "  %s %-13s %s\n", mark(false), label, o.Why)
		}
		one("stub", "compiles, and no step is started", c.Stub)
		passed := "passes"
		switch {
		case c.Solution.Race:
			passed += ", with the race detector too"
		case !r.Short:
			passed += " (no C compiler here: the race detector was not run)"
		}
		one("solution", passed, c.Solution)
		if r.Short {
			for _, p := range c.Problems {
				fmt.Fprintf(w, "  %s %s\n", mark(false), p)
			}
			continue
		}
		many := func(label, verb string, all []Outcome) {
			n := count(all)
			fmt.Fprintf(w, "  %s %-13s %d of %d %s\n", mark(n == len(all)), label, n, len(all), verb)
			for _, o := range all {
				if !o.OK {
					fmt.Fprintf(w, "      %s: %s\n", o.Name, o.Why)
				}
			}
		}
		many("alternatives", "accepted", c.Alternatives)
		rejected := "rejected, each by its check in its words"
		if n := untriedOf(c.Mistakes); n > 0 {
			rejected = fmt.Sprintf("%s, or not to be tried on this cluster: %d", rejected, n)
		}
		many("mistakes", rejected, c.Mistakes)
		for _, p := range c.Problems {
			fmt.Fprintf(w, "  %s %s\n", mark(false), p)
		}
		for _, m := range c.Missing {
			if c.Complete {
				fmt.Fprintf(w, "  %s missing: %s\n", mark(false), m)
			} else {
				fmt.Fprintf(w, "  %s still missing: %s\n", s.Yellow("·"), m)
			}
		}
	}
	if r.Short {
		words := s.Green("holds:")
		if !r.OK {
			words = s.Red("does not hold:")
		}
		fmt.Fprintf(w, "\n%s stubs and solutions of %d chapters on %s %s\n", words, len(r.Chapters), r.Cluster.Provider, r.Cluster.Kubernetes)
		return
	}
	if r.OK {
		fmt.Fprintf(w, "\n%s %d of %d mistakes rejected, %d of %d alternatives accepted\n", s.Green("holds:"), r.Rejected, r.Mistakes, r.Accepted, r.Alternatives)
	} else {
		fmt.Fprintf(w, "\n%s %d of %d mistakes rejected, %d of %d alternatives accepted\n", s.Red("does not hold:"), r.Rejected, r.Mistakes, r.Accepted, r.Alternatives)
	}
}

// Exit is the exit code: 0 only if all holds.
func (r *Report) Exit() int {
	if r.OK {
		return verdict.ExitPassed
	}
	return verdict.ExitFailed
}
