package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/controllings/controllings/runner/internal/course"
)

// table is a bench as Markdown: medians, and the ratio to the base with its
// extremes.
func table(d *Data, want course.Bench) (string, error) {
	b, err := d.bench(want)
	if err != nil {
		return "", err
	}
	base := b.row(want.Base).Values[want.Compare]
	var out strings.Builder
	fmt.Fprintf(&out, "| %s | %s | %s against “%s” |\n", want.Title, strings.Join(want.Columns, " | "), want.Compare, want.Base)
	fmt.Fprintf(&out, "| --- |%s --: |\n", strings.Repeat(" --: |", len(want.Columns)))
	for _, name := range want.Rows {
		row := b.row(name)
		fmt.Fprintf(&out, "| %s |", name)
		for _, unit := range want.Columns {
			fmt.Fprintf(&out, " %s |", number(spreadOf(row.Values[unit]).median))
		}
		fmt.Fprintf(&out, " %s |\n", times(spreadOf(ratios(row.Values[want.Compare], base)), name == want.Base))
	}
	m := d.Machine
	what := "One pass"
	if n := len(base); n > 1 {
		what = fmt.Sprintf("Medians of %d passes, and the smallest and the largest ratio of one pass", n)
	}
	fmt.Fprintf(&out, "\n%s; %d cores, %s, %s, Kubernetes %s (%s).\n", what, m.Cores, m.Platform, m.Go, m.Kubernetes, m.Provider)
	return out.String(), nil
}

func times(s spread, base bool) string {
	if base {
		return "1"
	}
	if number(s.low) == number(s.high) {
		return number(s.median) + " ×"
	}
	return fmt.Sprintf("%s × (%s–%s)", number(s.median), number(s.low), number(s.high))
}

// number shows three digits that count, and no exponent.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if digits > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	whole, part, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if part != "" {
		part = "." + part
	}
	return whole + part
}
