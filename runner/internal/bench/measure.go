package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/judge"
)

// Options say what to measure.
type Options struct {
	Course  *course.Course
	Chapter *course.Chapter
	Answer  answer.Name
	Cluster judge.Cluster
	// Passes is how often everything is measured, after one pass that only warms
	// up; default 5.
	Passes int
	// Lines gets what the benchmarks print, in the form that benchstat reads,
	// without the pass that warms up.
	Lines io.Writer
	// Status gets short lines on what takes long.
	Status func(string)
}

// Measure runs a chapter's benchmarks.
func Measure(ctx context.Context, o Options) (*Data, error) {
	if len(o.Chapter.Benches) == 0 {
		return nil, hint.New("its lesson claims no number; `lab list` shows the chapters", "chapter %s has no benchmark", o.Chapter.ID)
	}
	if o.Passes <= 0 {
		o.Passes = 5
	}
	d := &Data{Version: 1, Chapter: o.Chapter.ID}
	for _, b := range o.Chapter.Benches {
		d.Benches = append(d.Benches, Bench{Name: b.Name})
	}
	on, err := judge.Benchmark(ctx, judge.Options{
		Course: o.Course, Chapter: o.Chapter, Answer: o.Answer, Cluster: o.Cluster, Status: o.Status,
	}, 1+o.Passes, func(pass int, output io.Reader) error {
		if pass == 0 {
			o.Status("a pass to warm up, which doesn't count")
			_, err := io.Copy(io.Discard, output)
			return err
		}
		o.Status(fmt.Sprintf("pass %d of %d", pass, o.Passes))
		return d.read(io.TeeReader(output, o.Lines))
	})
	if err != nil {
		return nil, err
	}
	d.Machine = Machine{
		Cores: runtime.NumCPU(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Provider: on.Provider, Kubernetes: on.Kubernetes,
	}
	for i, b := range o.Chapter.Benches {
		sortRows(d.Benches[i].Rows, b.Rows)
		if _, err := d.bench(b); err != nil {
			return nil, hint.New("rows and columns of chapter.yaml are what the benchmark in *_test.go runs and reports", "%w", err)
		}
	}
	return d, nil
}

// cores is what Go adds to a benchmark's name where there are several.
var cores = regexp.MustCompile(`-\d+$`)

// read takes one pass.
func (d *Data) read(output io.Reader) error {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		full, values, ok := parse(lines.Text())
		if !ok {
			continue // other lines: tests log, and Go says what it runs on
		}
		name, row, _ := strings.Cut(full, "/")
		for i := range d.Benches {
			if d.Benches[i].Name == name {
				d.Benches[i].add(strings.ReplaceAll(row, "_", " "), values)
			}
		}
	}
	return lines.Err()
}

// parse reads a line of the form "BenchmarkName-8  1  12.5 ns/op  3 creates/s",
// which golang.org/design/14313-benchmark-format describes. (The library for it,
// golang.org/x/perf, brings half of a cloud's client libraries into go.work.)
func parse(line string) (name string, values map[string]float64, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(line, "Benchmark") {
		return "", nil, false
	}
	if _, err := strconv.ParseUint(fields[1], 10, 64); err != nil {
		return "", nil, false
	}
	values = map[string]float64{}
	for i := 2; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return "", nil, false
		}
		values[fields[i+1]] = v
	}
	return cores.ReplaceAllString(fields[0], ""), values, true
}

func (b *Bench) add(name string, values map[string]float64) {
	row := b.row(name)
	if row == nil {
		b.Rows = append(b.Rows, Row{Name: name, Values: map[string][]float64{}})
		row = &b.Rows[len(b.Rows)-1]
	}
	for unit, v := range values {
		row.Values[unit] = append(row.Values[unit], v)
	}
}

// Save writes bench.json, whole or not at all.
func Save(ch *course.Chapter, d *Data) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return err
	}
	return keep(Path(ch), out.Bytes())
}

// keep writes a file that comes of a measurement.
func keep(path string, data []byte) error {
	if err := answer.ReplaceFile(path, data); err != nil {
		return fmt.Errorf("write what was measured: %w", err)
	}
	return nil
}
