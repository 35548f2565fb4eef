package bench

import (
	"bytes"
	"fmt"
	"text/template"
	"unicode/utf8"

	"github.com/controllings/controllings/runner/internal/course"
)

// chart draws a bench as bars, one a row: the median of what is compared, with a
// line from the smallest to the largest measurement.
func chart(d *Data, want course.Bench) ([]byte, error) {
	b, err := d.bench(want)
	if err != nil {
		return nil, err
	}
	const (
		width, top, step, bar = 720, 64, 40, 22
		glyph                 = 7.4 // of 13 px text, about
	)
	type line struct {
		Name, Value           string
		Y, Text, Middle       int
		Width, Low, High, End float64
		Base                  bool
	}
	names, largest, values := 0, 0.0, 0
	spreads := make([]spread, len(want.Rows))
	for i, name := range want.Rows {
		s := spreadOf(b.row(name).Values[want.Compare])
		spreads[i] = s
		names = max(names, utf8.RuneCountInString(name))
		largest = max(largest, s.high)
		values = max(values, len(number(s.median)))
	}
	left := 16 + float64(names)*glyph + 12
	room := width - left - float64(values)*glyph - 32
	scale := func(v float64) float64 {
		if largest == 0 {
			return 0
		}
		return v / largest * room
	}
	var lines []line
	for i, name := range want.Rows {
		s := spreads[i]
		y := top + i*step
		lines = append(lines, line{
			Name: name, Value: number(s.median), Base: name == want.Base,
			Y: y, Text: y + bar/2 + 5, Middle: y + bar/2,
			Width: max(1, scale(s.median)), Low: left + scale(s.low), High: left + scale(s.high), End: left + scale(s.high) + 8,
		})
	}
	var out bytes.Buffer
	err = picture.Execute(&out, map[string]any{
		"Width": width, "Height": top + len(lines)*step + 12, "Bar": bar, "Left": left, "NameEnd": left - 12,
		"Title": want.Title, "Unit": want.Compare, "Lines": lines,
		"Label": fmt.Sprintf("%s: %s", want.Title, want.Compare),
	})
	return out.Bytes(), err
}

// picture has a ground of its own, so that it can be read on a dark page too.
var picture = template.Must(template.New("chart").Parse(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{.Width}} {{.Height}}" width="{{.Width}}" height="{{.Height}}" role="img" font-family="system-ui, sans-serif" font-size="13">
<title>{{html .Label}}</title>
<rect width="100%" height="100%" rx="8" fill="#ffffff" stroke="#d0d7de"/>
<text x="16" y="26" font-size="15" font-weight="600" fill="#1f2328">{{html .Title}}</text>
<text x="16" y="46" fill="#59636e">{{html .Unit}}: bars are medians, lines run from the smallest to the largest pass</text>
{{- range .Lines}}
<text x="{{printf "%.0f" $.NameEnd}}" y="{{.Text}}" text-anchor="end" fill="#1f2328">{{html .Name}}</text>
<rect x="{{printf "%.0f" $.Left}}" y="{{.Y}}" width="{{printf "%.1f" .Width}}" height="{{$.Bar}}" rx="2" fill="{{if .Base}}#8c959f{{else}}#2f6feb{{end}}"/>
<path d="M{{printf "%.1f" .Low}} {{.Middle}}H{{printf "%.1f" .High}}" stroke="#1f2328" stroke-width="1.5"/>
<text x="{{printf "%.1f" .End}}" y="{{.Text}}" fill="#1f2328">{{.Value}}</text>
{{- end}}
</svg>
`))
