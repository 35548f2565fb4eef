package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Hint is what there is to show of a check's hints.
type Hint struct {
	Step, Title string
	// Hints are the texts to show now, of which the first is number From, 1-based,
	// of Of.
	Hints    []string
	From, Of int
	// Note is one sentence on why it is this step, or "".
	Note string
	// Why is where the lesson speaks of it; Wild, where of mistakes that were made.
	Why, Wild string
	// Command shows the next hint; Again, those that were shown; Solution, the
	// worked solution; Run runs the chapter.
	Command, Again, Solution, Run string
}

// Write shows it.
func (h Hint) Write(w io.Writer, style Style) {
	t := &Text{W: w, Style: style}
	fmt.Fprintf(w, "%s  %s\n", h.Step, style.Bold(h.Title))
	if h.Note != "" {
		fmt.Fprintf(w, "%s\n", style.Dim(h.Note))
	}
	for i, text := range h.Hints {
		fmt.Fprintf(w, "\n%s\n", style.Cyan(fmt.Sprintf("hint %d of %d", h.From+i, h.Of)))
		for _, line := range wrap(text, 76) {
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
	fmt.Fprintln(w)
	last := h.From + len(h.Hints) - 1
	switch {
	case h.Of == 0:
		t.line("note", "no hint is written for this step yet")
	case len(h.Hints) == 0:
		t.line("note", fmt.Sprintf("that was all: you were shown %d of %d", h.Of, h.Of))
	}
	if h.Why != "" {
		t.line("why", h.Why)
	}
	if last < h.Of {
		t.line("next", fmt.Sprintf("change it, then %s; or %s for hint %d of %d", h.Run, h.Command, last+1, h.Of))
		return
	}
	if h.Wild != "" {
		t.line("mistakes", h.Wild)
	}
	if len(h.Hints) == 0 && h.Of > 0 {
		t.line("again", h.Again)
	}
	t.line("next", fmt.Sprintf("change it, then %s; or %s: the worked solution, whenever you like", h.Run, h.Solution))
}

// wrap breaks text into lines of at most so many characters, where there is a
// space. Lines that are there stay.
func wrap(text string, width int) []string {
	var lines []string
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			switch {
			case line == "":
				line = word
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
				lines = append(lines, line)
				line = word
			default:
				line += " " + word
			}
		}
		lines = append(lines, line)
	}
	return lines
}
