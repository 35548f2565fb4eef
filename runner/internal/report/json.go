package report

import (
	"encoding/json"
	"io"
)

// JSON writes v as one indented object. Angle brackets and ampersands stay as
// they are: it is read by people too.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
