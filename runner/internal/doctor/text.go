package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/controllings/controllings/runner/internal/report"
)

// Text writes a line a check, with the mend of what is not well below it, and
// what it comes to.
func (r Report) Text(w io.Writer, style report.Style) error {
	var b strings.Builder
	broken := 0
	for _, f := range r.Checks {
		mark := style.Green("✓")
		switch f.Status {
		case Warning:
			mark = style.Yellow("!")
		case Failed:
			mark = style.Red("✗")
			broken++
		}
		fmt.Fprintf(&b, "%s %-12s %s\n", mark, f.Name, strings.ReplaceAll(f.Found, "\n", "\n               "))
		if f.Mend != "" {
			fmt.Fprintf(&b, "  %-12s %s\n", "", style.Cyan("mend:")+" "+f.Mend)
		}
	}
	switch broken {
	case 0:
		b.WriteString("\nall that the course needs is there\n")
	case 1:
		b.WriteString("\none thing has to be mended\n")
	default:
		fmt.Fprintf(&b, "\n%d things have to be mended\n", broken)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
