package cluster

import "bytes"

// lineWriter hands on whole lines, and keeps those that tell of an error: all
// but the names of packages and modules that the go command prints as it works.
type lineWriter struct {
	line    func(string)
	partial []byte
	errs    []string
}

// most of what went wrong that is worth showing.
const mostLines = 20

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.partial = append(w.partial, p...)
	for {
		i := bytes.IndexByte(w.partial, '\n')
		if i < 0 {
			return len(p), nil
		}
		w.take(string(w.partial[:i]))
		w.partial = w.partial[i+1:]
	}
}

func (w *lineWriter) flush() {
	if len(w.partial) > 0 {
		w.take(string(w.partial))
		w.partial = nil
	}
}

func (w *lineWriter) take(l string) {
	w.line(l)
	if l == "" || isPackage(l) || isFetch(l) {
		return
	}
	w.errs = append(w.errs, l)
	if len(w.errs) > mostLines {
		w.errs = w.errs[1:]
	}
}

func (w *lineWriter) kept() []string { return w.errs }
