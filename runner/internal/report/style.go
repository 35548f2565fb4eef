// Package report shows verdicts: as text for a person, as JSON for a program.
package report

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Style colours text, or leaves it.
type Style struct{ on bool }

// StyleFor colours only what goes to a terminal, and nothing where the user set
// NO_COLOR (https://no-color.org) or has a dumb terminal.
func StyleFor(w io.Writer) Style {
	f, ok := w.(*os.File)
	return Style{ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// On says whether colours are on.
func (s Style) On() bool { return s.on }

func (s Style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold shows t in bold.
func (s Style) Bold(t string) string { return s.paint("1", t) }

// Dim shows t dimmed.
func (s Style) Dim(t string) string { return s.paint("2", t) }

// Red shows t in red.
func (s Style) Red(t string) string { return s.paint("31", t) }

// Green shows t in green.
func (s Style) Green(t string) string { return s.paint("32", t) }

// Yellow shows t in yellow.
func (s Style) Yellow(t string) string { return s.paint("33", t) }

// Cyan shows t in cyan.
func (s Style) Cyan(t string) string { return s.paint("36", t) }
