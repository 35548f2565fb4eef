// Package bench measures what a lesson claims in numbers: it runs a chapter's
// benchmarks, keeps what they said in bench.json, and writes the lesson's tables
// and charts from that.
//
// A number alone says little on a machine that nobody knows. So each pass measures
// all rows of a table, one after the other, and what is compared is a pass with
// itself: ratios, of which the table shows the median and the extremes.
package bench

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
)

// Data is bench.json: what was measured, and on what.
type Data struct {
	Version int     `json:"version"` // of this format: 1
	Chapter string  `json:"chapter"`
	Machine Machine `json:"machine"`
	Benches []Bench `json:"benches"`
}

// Machine is what the numbers depend on.
type Machine struct {
	Cores      int    `json:"cores"`
	Platform   string `json:"platform"` // linux/amd64
	Go         string `json:"go"`
	Provider   string `json:"provider"`
	Kubernetes string `json:"kubernetes"`
}

// Bench is one table.
type Bench struct {
	Name string `json:"name"`
	Rows []Row  `json:"rows"`
}

// Row has a value of each unit for each pass, in the order of the passes.
type Row struct {
	Name   string               `json:"name"`
	Values map[string][]float64 `json:"values"`
}

// Path is a chapter's bench.json.
func Path(ch *course.Chapter) string { return filepath.Join(ch.Dir, "bench", "bench.json") }

// Load reads a chapter's bench.json.
func Load(ch *course.Chapter) (*Data, error) {
	data, err := os.ReadFile(Path(ch))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.New(fmt.Sprintf("`make bench-%d` measures it", ch.Number), "chapter %s has not been measured: %w", ch.ID, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was measured: %w", err)
	}
	var d Data
	if err := json.Unmarshal(data, &d); err != nil || d.Version != 1 || d.Chapter != ch.ID {
		return nil, hint.New(fmt.Sprintf("`make bench-%d` makes it anew", ch.Number), "%s is damaged, or not of chapter %s", Path(ch), ch.ID)
	}
	for _, want := range ch.Benches {
		if _, err := d.bench(want); err != nil {
			return nil, hint.New(fmt.Sprintf("`make bench-%d` measures it anew", ch.Number), "%s: %w", Path(ch), err)
		}
	}
	return &d, nil
}

// bench finds what was measured for a table of chapter.yaml, and whether it is all
// that the table shows.
func (d *Data) bench(want course.Bench) (*Bench, error) {
	i := slices.IndexFunc(d.Benches, func(b Bench) bool { return b.Name == want.Name })
	if i < 0 {
		return nil, fmt.Errorf("nothing was measured for %s", want.Name)
	}
	b := &d.Benches[i]
	passes := -1
	for _, name := range want.Rows {
		row := b.row(name)
		if row == nil {
			return nil, fmt.Errorf("%s has no row %q", want.Name, name)
		}
		for _, unit := range want.Columns {
			n := len(row.Values[unit])
			if passes < 0 {
				passes = n
			}
			if n == 0 || n != passes {
				return nil, fmt.Errorf("%s, row %q: %d values of %q, and %d of others", want.Name, name, n, unit, passes)
			}
		}
	}
	if len(b.Rows) != len(want.Rows) {
		return nil, fmt.Errorf("%s has %d rows, of which chapter.yaml lists %d", want.Name, len(b.Rows), len(want.Rows))
	}
	return b, nil
}

func (b *Bench) row(name string) *Row {
	for i := range b.Rows {
		if b.Rows[i].Name == name {
			return &b.Rows[i]
		}
	}
	return nil
}

// spread is the middle of some measurements and their extremes.
type spread struct{ low, median, high float64 }

func spreadOf(values []float64) spread {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return spread{s[0], (s[(n-1)/2] + s[n/2]) / 2, s[n-1]}
}

// ratios compares two rows pass by pass.
func ratios(row, base []float64) []float64 {
	r := make([]float64, min(len(row), len(base)))
	for i := range r {
		r[i] = row[i] / base[i]
	}
	return r
}

func sortRows(rows []Row, order []string) {
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Compare(slices.Index(order, a.Name), slices.Index(order, b.Name))
	})
}
