package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/controllings/controllings/runner/internal/progress"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// Progress shows where a learner stands in each chapter, and where to go on.
func Progress(w io.Writer, style Style, all []progress.Standing) {
	ran, chapters := false, 0
	for _, s := range all {
		ran = ran || s.Ran
		row := fmt.Sprintf("%3d  %-34s %3d min  ", s.Chapter.Number, s.Chapter.Title, s.Chapter.Minutes)
		if !s.Ran {
			fmt.Fprintf(w, "%s  %s\n", row, style.Dim("not begun"))
			continue
		}
		mark := " "
		if s.Done() {
			mark = style.Green("✓")
			chapters++
		}
		done := Done(s)
		row += mark + " " + done + pad(done, 28) + "  " + scored(s.Result.Score, s.Result.Bonus, s.Result.MaxScore)
		if s.Edited {
			row += style.Yellow("  (edited since)")
		}
		fmt.Fprintln(w, row)
	}
	fmt.Fprintln(w)
	if ran {
		fmt.Fprintf(w, "%d of %d chapters done, as of your last run of each.\n", chapters, len(all))
	}
	fmt.Fprintf(w, "next: %s\n", next(all))
}

// Done is how many checks of a chapter passed in the last run.
func Done(s progress.Standing) string {
	done, of := s.Result.Passed()
	text := fmt.Sprintf("%d of %d done", done, of)
	if stretch, of := s.Result.StretchPassed(); of > 0 {
		text += fmt.Sprintf(", %d of %d stretch", stretch, of)
	}
	return text
}

// next says where to go on.
func next(all []progress.Standing) string {
	if s := progress.Next(all); s != nil {
		n := s.Chapter.Number
		if !s.Ran {
			return fmt.Sprintf("chapter %d, %s: read chapters/%s/README.md, then make chapter-%d", n, s.Chapter.Title, s.Chapter.ID, n)
		}
		c := verdict.First(s.Result.Checks)
		if c == nil {
			return fmt.Sprintf("chapter %d: make chapter-%d", n, n)
		}
		return fmt.Sprintf("chapter %d step %s, %s: make chapter-%d", n, c.Step, c.Title, n)
	}
	var left []string
	for _, s := range all {
		if stretch, of := s.Result.StretchPassed(); stretch < of {
			left = append(left, fmt.Sprint(s.Chapter.Number))
		}
	}
	if len(left) > 0 {
		return "all chapters so far are done; there are stretch steps left in " + strings.Join(left, ", ")
	}
	return "all chapters so far are done"
}
