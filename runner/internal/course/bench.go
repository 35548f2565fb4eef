package course

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bench is one measured table of a chapter, and its chart: a Benchmark function of
// the chapter's *_test.go, whose sub-benchmarks are the rows.
type Bench struct {
	Name    string   // BenchmarkCreates
	Title   string   // over the chart
	Columns []string // units that the benchmark reports, in the table's order
	Compare string   // the unit of which ratios and the chart are made, one of Columns
	Base    string   // the row that the others are compared with
	Rows    []string // all rows in their order, Base among them
}

type benchEntry struct {
	Name    text   `yaml:"name"`
	Title   text   `yaml:"title"`
	Columns []text `yaml:"columns"`
	Compare text   `yaml:"compare"`
	Base    text   `yaml:"base"`
	Rows    []text `yaml:"rows"`
	line    int
}

func (e *benchEntry) UnmarshalYAML(n *yaml.Node) error {
	if err := known(n, "name", "title", "columns", "compare", "base", "rows"); err != nil {
		return err
	}
	type plain benchEntry
	if err := n.Decode((*plain)(e)); err != nil {
		return err
	}
	e.line = n.Line
	return nil
}

var benchName = regexp.MustCompile(`^Benchmark[^a-z][A-Za-z0-9_]*$`)

func (ch *Chapter) addBench(e benchEntry) error {
	b := Bench{Name: e.Name.s, Title: strings.TrimSpace(e.Title.s), Compare: e.Compare.s, Base: e.Base.s}
	for _, c := range e.Columns {
		b.Columns = append(b.Columns, c.s)
	}
	for _, r := range e.Rows {
		b.Rows = append(b.Rows, r.s)
	}
	switch {
	case !benchName.MatchString(b.Name):
		return &lineError{e.line, fmt.Sprintf("bench has no good name: %q", b.Name), "name: BenchmarkSomething, as in the chapter's *_test.go"}
	case slices.ContainsFunc(ch.Benches, func(o Bench) bool { return o.Name == b.Name }):
		return &lineError{e.line, fmt.Sprintf("bench %s is listed twice", b.Name), "one entry a benchmark"}
	case b.Title == "":
		return &lineError{e.line, fmt.Sprintf("bench %s has no title", b.Name), "title: what is measured, for the chart"}
	case !slices.Contains(b.Columns, b.Compare):
		return &lineError{e.line, fmt.Sprintf("bench %s compares %q, which is no column", b.Name, b.Compare), "compare: one of the units of columns"}
	case !slices.Contains(b.Rows, b.Base):
		return &lineError{e.line, fmt.Sprintf("bench %s has the base %q, which is no row", b.Name, b.Base), "base: one of rows"}
	case len(b.Rows) < 2:
		return &lineError{e.line, fmt.Sprintf("bench %s has one row", b.Name), "a number says something beside another one: add a row to compare with"}
	}
	ch.Benches = append(ch.Benches, b)
	return nil
}
