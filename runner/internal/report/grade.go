package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// Format is how a grade is written.
type Format string

// The formats.
const (
	AsText   Format = "text"   // for a person
	AsJSON   Format = "json"   // schema/grade.json describes it
	AsJUnit  Format = "junit"  // XML that CI services read
	AsGitHub Format = "github" // a log with GitHub's workflow commands
)

// Formats are all of them.
var Formats = []Format{AsText, AsJSON, AsJUnit, AsGitHub}

// ParseFormat reads the name of a format.
func ParseFormat(s string) (Format, error) {
	if f := Format(s); slices.Contains(Formats, f) {
		return f, nil
	}
	return "", hint.New("formats are text, json, junit and github", "no format %q", s)
}

// Grade writes g. Whatever a submission made its checks say can neither break
// the format nor give an order to the terminal or the CI service that shows it.
func Grade(f Format, g *verdict.Grade) ([]byte, error) {
	var b bytes.Buffer
	var err error
	switch f {
	case AsText:
		gradeText(&b, Style{}, g)
	case AsJSON:
		err = gradeJSON(&b, g)
	case AsJUnit:
		err = gradeJUnit(&b, g)
	case AsGitHub:
		gradeGitHub(&b, g)
	default:
		err = fmt.Errorf("no format %q", f)
	}
	return b.Bytes(), err
}

// gradeJSON writes the one chapter that was asked for, or all in one object.
func gradeJSON(b *bytes.Buffer, g *verdict.Grade) error {
	var v any = g
	if one := single(g); one != nil {
		v = one
	}
	if err := JSON(b, v); err != nil {
		return err
	}
	// It may be printed to a log. Two number signs stand in texts alone.
	safe := oldCommand.ReplaceAll(b.Bytes(), []byte(`##$1\u005b`))
	b.Reset()
	b.Write(safe)
	return nil
}

func single(g *verdict.Grade) *verdict.Result {
	if g.Single && len(g.Chapters) == 1 {
		return g.Chapters[0]
	}
	return nil
}

// GradeText shows a chapter of a grade as it comes.
func GradeText(w io.Writer, style Style, r *verdict.Result) *Text {
	return &Text{
		W: w, Style: style, All: true,
		Lesson:  "chapters/" + r.Chapter + "/README.md",
		Command: fmt.Sprintf("make chapter-%d", r.Number),
	}
}

// NotJudged shows a chapter that could not be judged, after those rows of it that
// could.
func (t *Text) NotJudged(r *verdict.Result) {
	r = clean(r)
	head := *r
	head.Checks, head.Build = nil, nil
	if t.width == 0 {
		t.Begin(&head)
	} else {
		fmt.Fprintln(t.W)
	}
	fmt.Fprintf(t.W, "%s\n", t.Style.Red("! could not be judged"))
	if r.Error != nil {
		t.line("seen", *r.Error)
	}
}

// Total shows the sum of several chapters.
func Total(w io.Writer, style Style, g *verdict.Grade) {
	if g.Error != nil {
		fmt.Fprintf(w, "\n%s %s\n", style.Red("!"), Clean(*g.Error))
	}
	if single(g) != nil {
		return
	}
	passed := 0
	for _, r := range g.Chapters {
		if r.Status == verdict.Passed {
			passed++
		}
	}
	fmt.Fprintf(w, "\n%d of %d chapters passed. %s.\n", passed, len(g.Chapters), scored(g.Score, g.Bonus, g.MaxScore))
}

func gradeText(w io.Writer, style Style, g *verdict.Grade) {
	for i, r := range g.Chapters {
		if i > 0 {
			fmt.Fprintln(w)
		}
		t := GradeText(w, style, r)
		if r.Error != nil {
			t.NotJudged(r)
			continue
		}
		t.Begin(r)
		if r.Build == nil {
			for _, c := range r.Checks {
				t.Check(c)
			}
		}
		t.End(r)
	}
	Total(w, style, g)
}

// scored says the points, and what there is beyond those that are asked for.
func scored(score, bonus, of int) string {
	s := fmt.Sprintf("%d of %d points", score-bonus, of)
	if bonus > 0 {
		s += fmt.Sprintf(", %d bonus", bonus)
	}
	return s
}

// why is the message of a check, whatever of it there is: what was expected, what
// was seen and where to read, or the one sentence.
func why(c verdict.Check) string {
	var b strings.Builder
	part := func(name, text string) {
		if strings.TrimSpace(text) != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n           "))
		}
	}
	if c.Expected == "" && c.Actual == "" {
		part("seen", c.Message)
	} else {
		part("expected", c.Expected)
		part("seen", c.Actual)
	}
	for i, f := range c.Frames {
		part([]string{"where", ""}[min(i, 1)], at(f))
	}
	if c.Status == verdict.Failed {
		part("printed", c.Printed)
	}
	if c.SeeTitle != "" {
		part("why", fmt.Sprintf("%s, “%s”", at(c.SeeAt), c.SeeTitle))
	}
	return strings.TrimRight(b.String(), "\n")
}

// summary is one line that says how a check ended.
func summary(c verdict.Check) string {
	switch c.Status {
	case verdict.Passed:
		return "passed"
	case verdict.NotStarted:
		return "not started"
	case verdict.Blocked:
		if c.BlockedBy != "" {
			return "waits for " + c.BlockedBy
		}
		return "waits: the code has to build first"
	case verdict.Failed:
		if c.Actual != "" {
			return oneLine(c.Actual, 200)
		}
	}
	if c.Message == "" {
		return string(c.Status)
	}
	return oneLine(c.Message, 200)
}
