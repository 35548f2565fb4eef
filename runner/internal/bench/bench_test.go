package bench

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/controllings/controllings/runner/internal/course"
)

var wanted = course.Bench{
	Name: "BenchmarkReads", Title: "Reads & writes", Columns: []string{"s", "reads/s"}, Compare: "reads/s",
	Base: "live", Rows: []string{"live", "cached, 8 at once"},
}

// A pass is compared with itself: the second one was slow for both rows.
var printed = []string{`goos: linux
BenchmarkReads/live-2                 1     100.0 reads/s   2.000 s
BenchmarkReads/cached,_8_at_once-2    1   12000.0 reads/s   0.0015 s
BenchmarkOther-2                      1       1.0 reads/s
BenchmarkReads/live of which a log speaks
BenchmarkReads/live-2                 1       some words
BenchmarkReads/live-2                 x     1.0 reads/s   1 s
PASS
`, `BenchmarkReads/live-2             1      50.0 reads/s   4.000 s
some line of a log
BenchmarkReads/cached,_8_at_once-2    1    6100.0 reads/s   0.003 s
`}

func measured(t *testing.T) *Data {
	t.Helper()
	d := &Data{Version: 1, Chapter: "02-informers", Benches: []Bench{{Name: wanted.Name}},
		Machine: Machine{Cores: 2, Platform: "linux/amd64", Go: "go1.26.0", Provider: "embedded", Kubernetes: "v1.37.2"}}
	for _, pass := range printed {
		if err := d.read(strings.NewReader(pass)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestTable(t *testing.T) {
	got, err := table(measured(t), wanted)
	if err != nil {
		t.Fatal(err)
	}
	want := `| Reads & writes | s | reads/s | reads/s against “live” |
| --- | --: | --: | --: |
| live | 3 | 75 | 1 |
| cached, 8 at once | 0.00225 | 9,050 | 121 × (120–122) |

Medians of 2 passes, and the smallest and the largest ratio of one pass; 2 cores, linux/amd64, go1.26.0, Kubernetes v1.37.2 (embedded).
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	for _, test := range []struct {
		name, says string
		change     func(*Data)
	}{
		{"a bench", "nothing was measured for BenchmarkReads", func(d *Data) { d.Benches = nil }},
		{"a row", `has no row "live"`, func(d *Data) { d.Benches[0].Rows = d.Benches[0].Rows[1:] }},
		{"a unit", `0 values of "s"`, func(d *Data) { delete(d.Benches[0].Rows[0].Values, "s") }},
		{"a pass of a row", `row "cached, 8 at once": 1 values of "s", and 2 of others`, func(d *Data) {
			v := d.Benches[0].Rows[1].Values
			v["s"] = v["s"][:1]
		}},
		{"a row in chapter.yaml", "has 3 rows, of which chapter.yaml lists 2", func(d *Data) {
			d.Benches[0].Rows = append(d.Benches[0].Rows, Row{Name: "more"})
		}},
	} {
		d := measured(t)
		test.change(d)
		if _, err := table(d, wanted); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("without %s the error is %v: want %q in it", test.name, err, test.says)
		}
		if _, err := chart(d, wanted); err == nil {
			t.Errorf("without %s there is a chart", test.name)
		}
	}
}

func TestChartIsXML(t *testing.T) {
	picture, err := chart(measured(t), wanted)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for d := xml.NewDecoder(strings.NewReader(string(picture))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		if data, ok := token.(xml.CharData); ok {
			text.WriteString(string(data) + " ")
		}
	}
	for _, want := range []string{"Reads & writes", "cached, 8 at once", "9,050", "75"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the chart does not show %q:\n%s", want, picture)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 58.004: "58", 0.68421: "0.684", 0.0012345: "0.00123", 438.4: "438",
		9050: "9,050", 1234567: "1,234,567", 999.6: "1,000", 24.96: "25", -1234.5: "-1,234",
	} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}
