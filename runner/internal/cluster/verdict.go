package cluster

import (
	"bytes"
	"io"
	"strings"
)

// verdictWriter passes lines on, all but the last "error:" and "hint:" of the
// control plane, which it keeps. Lines of a multi-line error belong to it.
type verdictWriter struct {
	next      io.Writer
	partial   []byte
	err, hint string
}

// Write implements io.Writer.
func (v *verdictWriter) Write(p []byte) (int, error) {
	v.partial = append(v.partial, p...)
	for {
		i := bytes.IndexByte(v.partial, '\n')
		if i < 0 {
			return len(p), nil
		}
		v.line(string(v.partial[:i]))
		v.partial = v.partial[i+1:]
	}
}

func (v *verdictWriter) flush() {
	if len(v.partial) > 0 {
		v.line(string(v.partial))
		v.partial = nil
	}
}

func (v *verdictWriter) line(l string) {
	if rest, ok := strings.CutPrefix(l, "error: "); ok {
		v.err, v.hint = rest, ""
		return
	}
	if rest, ok := strings.CutPrefix(l, "hint:"); ok && v.err != "" {
		v.hint = strings.TrimSpace(rest)
		return
	}
	if v.err != "" {
		v.err += "\n" + l
		return
	}
	_, _ = io.WriteString(v.next, l+"\n")
}
