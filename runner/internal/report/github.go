package report

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"html"
	"strings"

	"github.com/controllings/controllings/runner/internal/verdict"
)

// maxAnnotation bounds an annotation's text, in characters.
const maxAnnotation = 4000

// gradeGitHub writes a log for GitHub Actions: the text, folded, with commands
// switched off in it, then an annotation for each thing that is wrong. See
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
func gradeGitHub(b *bytes.Buffer, g *verdict.Grade) {
	// The text is safe by itself. Should that fail, nobody can guess the word that
	// switches commands on again: it is made after the last check has ended.
	word := rand.Text()
	fmt.Fprintf(b, "::group::lab grade: %s\n", gradeTitle(g))
	fmt.Fprintf(b, "::stop-commands::%s\n", word)
	gradeText(b, Style{}, g)
	fmt.Fprintf(b, "::%s::\n::endgroup::\n", word)
	for _, r := range g.Chapters {
		annotate(b, clean(r))
	}
	if g.Error != nil && single(g) == nil {
		command(b, "error", nil, "grade", Clean(*g.Error))
	}
}

func gradeTitle(g *verdict.Grade) string {
	name := fmt.Sprintf("%d chapters", len(g.Chapters))
	status, score, bonus, of := g.Status, g.Score, g.Bonus, g.MaxScore
	if r := single(g); r != nil {
		name, status, score, bonus, of = r.Chapter, r.Status, r.Score, r.Bonus, r.MaxScore
	}
	return fmt.Sprintf("%s: %s, %s", name, words(status), scored(score, bonus, of))
}

func annotate(b *bytes.Buffer, r *verdict.Result) {
	if r.Error != nil {
		command(b, "error", nil, r.Chapter+" could not be judged", *r.Error)
	}
	if r.Build != nil {
		command(b, "error", r.Build.First, r.Chapter+" "+buildTitle(r.Build), strings.Join(r.Build.Lines, "\n"))
		return // that is why the checks wait
	}
	for _, c := range r.Checks {
		level := "error"
		switch {
		case c.Status == verdict.Passed, c.Status == verdict.Blocked, c.Stretch && c.Status == verdict.NotStarted:
			continue
		case c.Status == verdict.Error && r.Error != nil && c.Message == "":
			continue // not judged, as said above
		case c.Stretch:
			level = "notice"
		case c.Status == verdict.NotStarted:
			level = "warning"
		}
		text := why(c)
		if c.Status == verdict.NotStarted {
			text = strings.TrimRight("not started\n"+text, "\n")
		}
		command(b, level, c.Where, fmt.Sprintf("%s %s", c.Step, c.Title), text)
	}
}

// command writes one workflow command, of one line whatever is in it.
func command(b *bytes.Buffer, level string, at *verdict.Place, title, text string) {
	var props []string
	if at != nil {
		file, _, _ := strings.Cut(at.File, " (")
		props = append(props, "file="+escapeProperty(file))
		if at.Line > 0 {
			props = append(props, fmt.Sprintf("line=%d", at.Line))
		}
	}
	props = append(props, "title="+escapeProperty(title))
	fmt.Fprintf(b, "::%s %s::%s\n", level, strings.Join(props, ","), escapeData(bound(text, maxAnnotation)))
}

// As the toolkit does:
// https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// Summary is g in Markdown, for the page of a GitHub job: GITHUB_STEP_SUMMARY.
func Summary(g *verdict.Grade) []byte {
	var b bytes.Buffer
	for _, r := range g.Chapters {
		summarize(&b, clean(r))
	}
	if single(g) == nil {
		fmt.Fprintf(&b, "**%s**\n", markdown(gradeTitle(g)))
	}
	return b.Bytes()
}

func summarize(b *bytes.Buffer, r *verdict.Result) {
	fmt.Fprintf(b, "### %d · %s: %s, %s\n\n", r.Number, markdown(r.Title), words(r.Status), scored(r.Score, r.Bonus, r.MaxScore))
	if r.Error != nil {
		pre(b, "could not be judged", *r.Error)
		return
	}
	fmt.Fprint(b, "| step | | | points |\n| --- | --- | --- | --- |\n")
	for _, c := range r.Checks {
		fmt.Fprintf(b, "| %s | %s | %s %s | %s |\n", c.Step, markdown(title(c)), mark(c.Status), words(c.Status), points(c))
	}
	fmt.Fprintln(b)
	if r.Build != nil {
		pre(b, buildTitle(r.Build), strings.Join(r.Build.Lines, "\n"))
	}
	for _, c := range r.Checks {
		if c.Status == verdict.Failed || c.Status == verdict.Error || c.Status == verdict.Skipped {
			pre(b, c.Step+" "+c.Title, why(c))
		}
	}
}

// pre shows text as it is, folded. Within <pre> nothing is Markdown up to its
// end, which escaped text can't hold.
func pre(b *bytes.Buffer, title, text string) {
	fmt.Fprintf(b, "<details><summary>%s</summary>\n\n<pre>%s</pre>\n\n</details>\n\n", html.EscapeString(title), html.EscapeString(text))
}

// markdown is a line of text in which nothing is a mark.
func markdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "<", "&lt;", "&", "&amp;", "\n", " ").Replace(s)
}

func mark(s verdict.Status) string {
	switch s {
	case verdict.Passed:
		return "✓"
	case verdict.Failed:
		return "✗"
	case verdict.NotStarted:
		return "·"
	case verdict.Blocked:
		return "–"
	case verdict.Skipped:
		return "○"
	default:
		return "!"
	}
}

func words(s verdict.Status) string { return strings.ReplaceAll(string(s), "_", " ") }
