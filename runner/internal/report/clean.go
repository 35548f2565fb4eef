package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/controllings/controllings/runner/internal/verdict"
)

// Clean makes text that a learner's code may have written safe to show. What a
// terminal would obey becomes visible, and so do the commands that CI services
// take from a log.
func Clean(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if strings.IndexFunc(s, unsafeRune) >= 0 || !utf8.ValidString(s) {
		var b strings.Builder
		for i, r := range s {
			switch {
			case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
				fmt.Fprintf(&b, `\x%02x`, s[i])
			case !unsafeRune(r):
				b.WriteRune(r)
			case r < utf8.RuneSelf:
				fmt.Fprintf(&b, `\x%02x`, r)
			default:
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		}
		s = b.String()
	}
	if !strings.Contains(s, "::") && !strings.Contains(s, "##") {
		return s
	}
	s = oldCommand.ReplaceAllString(s, `##$1\[`)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if text := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(text, "::") {
			lines[i] = line[:len(line)-len(text)] + `\` + text
		}
	}
	return strings.Join(lines, "\n")
}

// oldCommand is how a command begins that may stand anywhere in a line:
// ##[error] of GitHub and Azure, ##vso[…], ##teamcity[…].
var oldCommand = regexp.MustCompile(`##(\w*)\[`)

// unsafeRune says whether a character does more than to be seen: control
// characters, and those that turn the order of others around.
func unsafeRune(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return true
	default:
		return unicode.Is(unicode.Bidi_Control, r)
	}
}

// cleanCheck is c with safe text.
func cleanCheck(c verdict.Check) verdict.Check {
	for _, s := range []*string{&c.Message, &c.Expected, &c.Actual, &c.See, &c.Output, &c.Printed, &c.SeeTitle} {
		*s = Clean(*s)
	}
	c.SeeAt = *cleanPlace(&c.SeeAt)
	c.Where = cleanPlace(c.Where)
	c.Frames = slices.Clone(c.Frames)
	for i := range c.Frames {
		c.Frames[i] = *cleanPlace(&c.Frames[i])
	}
	return c
}

// cleanPlace is p with a file's name that is one line, whatever its name is.
func cleanPlace(p *verdict.Place) *verdict.Place {
	if p == nil {
		return nil
	}
	return &verdict.Place{File: inLine(p.File), Line: p.Line}
}

func inLine(s string) string { return strings.ReplaceAll(Clean(s), "\n", `\x0a`) }

// clean is r with safe text.
func clean(r *verdict.Result) *verdict.Result {
	out := *r
	out.Checks = nil
	for _, c := range r.Checks {
		out.Checks = append(out.Checks, cleanCheck(c))
	}
	if r.Error != nil {
		e := Clean(*r.Error)
		out.Error = &e
	}
	if r.Build != nil {
		b := *r.Build
		b.Lines = nil
		for _, line := range r.Build.Lines {
			b.Lines = append(b.Lines, inLine(bound(line, maxLine)))
		}
		b.First = cleanPlace(b.First)
		out.Build = &b
	}
	return &out
}

// maxLine is how much of a line is shown, in characters.
const maxLine = 500

// bound cuts text off after so many characters.
func bound(s string, chars int) string {
	if len(s) <= chars {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > chars {
			return s[:i] + "…"
		}
	}
	return s
}

// oneLine is the first line of text, bounded.
func oneLine(s string, chars int) string {
	line, more, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if strings.TrimSpace(more) != "" {
		line += " …"
	}
	return bound(line, chars)
}
