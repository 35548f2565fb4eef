package report

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/controllings/controllings/runner/internal/verdict"
)

// Text shows one chapter's verdict as it comes: Begin, then Check for each, then
// End.
type Text struct {
	W     io.Writer
	Style Style
	// Lesson is the chapter's README, as a person is told it.
	Lesson string
	// Command runs the chapter again: "make chapter-1".
	Command string
	// Whole runs all of the chapter, where Command runs one step of it; else "".
	Whole string
	// Next is the lesson of the chapter after this one, or "".
	Next string
	// NextCommand runs that chapter.
	NextCommand string
	// Walkthrough is the solution's README, or "".
	Walkthrough string
	// Verbose adds what the explained check printed.
	Verbose bool
	// All explains every check that is wrong, not the first alone, and says the
	// points: for a grade, which is read where nothing can be run again.
	All bool

	width int // of the widest title
}

const headWidth = 58 // where the header's right part begins

// Begin shows the header, and why there is nothing to run if nothing compiles.
func (t *Text) Begin(r *verdict.Result) {
	r = clean(r)
	for _, c := range r.Checks {
		t.width = max(t.width, utf8.RuneCountInString(title(c)))
	}
	t.width = max(t.width, headWidth-14) // a row's marks and step come before its title
	left := fmt.Sprintf("Chapter %d · %s", r.Number, r.Title)
	plain := left
	if r.Answer != "mine" && r.Answer != "" {
		left += t.Style.Cyan("  (" + r.Answer + ")")
		plain += "  (" + r.Answer + ")"
	}
	right := strings.TrimSpace(r.Cluster.Provider + " " + r.Cluster.Kubernetes)
	if right != "" {
		left = t.Style.Bold(left) + pad(plain, t.width+11) + "  " + t.Style.Dim(right)
	} else {
		left = t.Style.Bold(left)
	}
	fmt.Fprintf(t.W, "%s\n\n", left)
	if r.Build == nil {
		return
	}
	fmt.Fprintf(t.W, "%s\n", t.Style.Red("✗ "+buildTitle(r.Build)))
	for _, line := range r.Build.Lines {
		fmt.Fprintf(t.W, "    %s\n", line)
	}
	if r.Build.Advice != "" {
		fmt.Fprintf(t.W, "\n    %s     %s\n", t.Style.Dim("note"), r.Build.Advice)
	}
	fmt.Fprintf(t.W, "\n  %s\n", t.Style.Dim(waiting(r.Checks)))
}

// waiting says in one line that each of a dozen checks waits for the compiler.
func waiting(checks []verdict.Check) string {
	if len(checks) == 1 {
		return "the check waits for that"
	}
	return fmt.Sprintf("the %d checks wait for that", len(checks))
}

// Check shows the row of one check.
func (t *Text) Check(c verdict.Check) {
	c = cleanCheck(c)
	mark, last := "", ""
	var paint func(string) string
	switch c.Status {
	case verdict.Passed:
		mark, last, paint = "✓", points(c), t.Style.Green
	case verdict.Failed:
		mark, last, paint = "✗", points(c), t.Style.Red
	case verdict.NotStarted:
		mark, last, paint = "·", "not started", t.Style.Yellow
	case verdict.Blocked:
		mark, last, paint = "–", "waits", t.Style.Dim
		if c.BlockedBy != "" {
			last = "waits for " + c.BlockedBy
		}
	case verdict.Skipped:
		mark, last, paint = "○", "skipped", t.Style.Yellow
	default:
		mark, last, paint = "!", "error", t.Style.Red
	}
	row := fmt.Sprintf("  %s %-4s %s%s  %s", paint(mark), c.Step, title(c), pad(title(c), t.width), paint(last))
	if c.Where != nil && (c.Status == verdict.Failed || c.Status == verdict.NotStarted) {
		row += pad(last, 11) + "   " + t.Style.Dim(short(*c.Where))
	}
	fmt.Fprintln(t.W, strings.TrimRight(row, " "))
}

// End explains the first check that is not green, and says what comes next.
func (t *Text) End(r *verdict.Result) {
	r = clean(r)
	if t.Whole != "" {
		t.endStep(r)
		return
	}
	done, all := r.Passed()
	fmt.Fprintf(t.W, "\n  %d of %d done", done, all)
	if stretch, of := r.StretchPassed(); of > 0 {
		fmt.Fprintf(t.W, ", %d of %d stretch,", stretch, of)
	}
	fmt.Fprintf(t.W, " in %.1f s.", r.Seconds)
	if t.All {
		fmt.Fprintf(t.W, " %s.", scored(r.Score, r.Bonus, r.MaxScore))
	}
	if r.Status == verdict.Passed {
		fmt.Fprintf(t.W, " %s\n", t.Style.Green(fmt.Sprintf("Chapter %d is done.", r.Number)))
		t.explainStretch(r)
		t.explainSkipped(r, nil)
		t.after()
		t.explainAll(r)
		return
	}
	// To those who have begun, not to those who are nearly through.
	if !t.All && 2*done < all && slices.ContainsFunc(r.Checks, func(c verdict.Check) bool { return c.Status == verdict.NotStarted }) {
		fmt.Fprint(t.W, " Red and · are where you begin: this is no broken install.")
	}
	fmt.Fprintln(t.W)
	if r.Build != nil {
		t.mend(r.Build)
		return
	}
	if t.All {
		t.explainAll(r)
	} else if c := verdict.First(r.Checks); c != nil {
		t.explainFirst(c)
		t.explainSkipped(r, c)
	}
}

// endStep ends a run of one step, which says nothing about the chapter.
func (t *Text) endStep(r *verdict.Result) {
	fmt.Fprintf(t.W, "\n  One step, in %.1f s. All of them: %s\n", r.Seconds, t.Whole)
	if r.Build != nil {
		t.mend(r.Build)
	} else if c := verdict.First(r.Checks); c != nil {
		t.explainFirst(c)
	}
}

func (t *Text) mend(b *verdict.Build) {
	names := "the compiler names"
	if b.Refused {
		names = "is named above"
	}
	fmt.Fprintln(t.W)
	t.line("next", "mend what "+names+", then "+t.Command)
}

// explainFirst explains the check to look at, and shows what its process wrote.
func (t *Text) explainFirst(c *verdict.Check) {
	t.explain(c)
	if t.Verbose && strings.TrimSpace(c.Output) != "" {
		t.line("output", c.Output)
	}
}

// explainStretch explains the first stretch check that went wrong in a chapter
// that is done. One that is not started is nobody's next step.
func (t *Text) explainStretch(r *verdict.Result) {
	wrong := slices.DeleteFunc(slices.Clone(r.Checks), func(c verdict.Check) bool {
		return c.Status != verdict.Failed && c.Status != verdict.Error
	})
	if c := verdict.First(wrong); c != nil && !t.All {
		t.explainFirst(c)
	}
}

// explainSkipped says why checks were not run, but for one that was explained:
// nobody's code is wrong, but without the required ones the chapter isn't done.
func (t *Text) explainSkipped(r *verdict.Result, but *verdict.Check) {
	for i := range r.Checks {
		if c := &r.Checks[i]; !t.All && c.Status == verdict.Skipped && c != but {
			t.explain(c)
		}
	}
}

// explainAll explains what went wrong. Where a step is not started there is
// nothing to explain.
func (t *Text) explainAll(r *verdict.Result) {
	for i := range r.Checks {
		if c := &r.Checks[i]; t.All && (c.Status == verdict.Failed || c.Status == verdict.Error || c.Status == verdict.Skipped) {
			t.explain(c)
		}
	}
}

func (t *Text) explain(c *verdict.Check) {
	switch c.Status {
	case verdict.NotStarted:
		fmt.Fprintf(t.W, "\n%s %s  %s\n", t.Style.Yellow("·"), c.Step, t.Style.Bold(c.Title))
		if c.Message != "" {
			t.line("note", c.Message)
		}
		if c.Where != nil {
			t.line("where", at(*c.Where))
		}
	case verdict.Error, verdict.Skipped:
		mark := "!"
		if c.Status == verdict.Skipped {
			mark = "○"
		}
		fmt.Fprintf(t.W, "\n%s %s  %s\n", t.Style.Red(mark), c.Step, t.Style.Bold(c.Title))
		t.line("seen", c.Message)
		if c.Status == verdict.Error {
			t.line("next", "make cluster-status says how the cluster is; then "+t.Command)
		}
		return
	default:
		fmt.Fprintf(t.W, "\n%s %s  %s\n", t.Style.Red("✗"), c.Step, t.Style.Bold(c.Title))
		if c.Expected == "" && c.Actual == "" {
			t.line("seen", c.Message)
		} else {
			t.line("expected", c.Expected)
			t.line("seen", c.Actual)
		}
		switch {
		case len(c.Frames) > 0:
			var lines []string
			for _, f := range c.Frames {
				lines = append(lines, at(f))
			}
			t.line("where", strings.Join(lines, "\n"))
		case c.Where != nil:
			t.line("where", at(*c.Where))
		}
	}
	if c.Status == verdict.Failed && c.Printed != "" && !t.Verbose {
		t.line("printed", c.Printed)
	}
	if c.SeeTitle != "" {
		t.line("why", fmt.Sprintf("%s, “%s”", at(c.SeeAt), c.SeeTitle))
	} else if t.Lesson != "" {
		t.line("why", fmt.Sprintf("%s, step %s", t.Lesson, c.Step))
	}
	switch {
	case c.Hint != "":
		t.line("next", fmt.Sprintf("%s; or change it, then %s", c.Hint, t.Command))
	case c.Status == verdict.NotStarted:
		t.line("next", fmt.Sprintf("read step %s, write it, then %s", c.Step, t.Command))
	default:
		t.line("next", "change it, then "+t.Command)
	}
}

func (t *Text) after() {
	if t.All {
		return
	}
	fmt.Fprintln(t.W)
	if t.Walkthrough != "" {
		t.line("compare", t.Walkthrough+": the worked solution, and why it is so")
	}
	if t.Next != "" {
		t.line("next", fmt.Sprintf("%s, then %s", t.Next, t.NextCommand))
	} else {
		t.line("next", "this is the last chapter so far")
	}
}

// line shows a named part, its further lines below its first.
func (t *Text) line(name, text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	fmt.Fprintf(t.W, "    %s%s%s\n", t.Style.Dim(name), pad(name, 11), lines[0])
	for _, l := range lines[1:] {
		fmt.Fprintln(t.W, strings.TrimRight("               "+l, " "))
	}
}

func buildTitle(b *verdict.Build) string {
	if b.Refused {
		return "reaches for what judges it, so it was not run"
	}
	return "does not compile yet"
}

func title(c verdict.Check) string {
	if c.Stretch {
		return c.Title + " (stretch)"
	}
	return c.Title
}

func points(c verdict.Check) string {
	if c.Stretch {
		return fmt.Sprintf("+%d", c.Score)
	}
	return fmt.Sprintf("%d/%d", c.Score, c.MaxScore)
}

func at(p verdict.Place) string {
	if p.Line == 0 {
		return p.File
	}
	file, note, _ := strings.Cut(p.File, " (")
	if note != "" {
		note = " (" + note
	}
	return fmt.Sprintf("%s:%d%s", file, p.Line, note)
}

// short is a place in a row, where the chapter is known.
func short(p verdict.Place) string {
	p.File, _, _ = strings.Cut(p.File, " (")
	p.File = path.Base(p.File)
	return at(p)
}

// pad is the space after text in a column of that width.
func pad(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}
