package repo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"
)

// Finding is one thing that a verify script objects to.
type Finding struct {
	Path string // slash-separated, in the checkout; may be ""
	Line int    // 0 if unknown
	Text string
}

func (f Finding) String() string {
	switch {
	case f.Path == "":
		return f.Text
	case f.Line == 0:
		return f.Path + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text)
}

// File is what a generated file should hold.
type File struct {
	Path string // slash-separated, in the checkout
	Data []byte // nil: no such file
}

// Drift returns, as one finding a file, how files differ from those on disk.
func (r *Repo) Drift(files []File) ([]Finding, error) {
	var found []Finding
	for _, f := range files {
		have, err := os.ReadFile(r.Path(f.Path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		gone := err != nil
		switch {
		case bytes.Equal(have, f.Data) && gone == (f.Data == nil):
		case gone:
			found = append(found, Finding{Path: f.Path, Text: "is missing"})
		case f.Data == nil:
			found = append(found, Finding{Path: f.Path, Text: "should not be there"})
		default:
			d := diff.Diff(f.Path+" (committed)", have, f.Path+" (generated)", f.Data)
			found = append(found, Finding{Path: f.Path, Text: "differs from what is generated\n" + string(d)})
		}
	}
	return found, nil
}

// Write writes the files that differ and says on w which.
func (r *Repo) Write(w io.Writer, files []File) error {
	for _, f := range files {
		p := r.Path(f.Path)
		have, err := os.ReadFile(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		gone := err != nil
		if bytes.Equal(have, f.Data) && gone == (f.Data == nil) {
			continue
		}
		if f.Data == nil {
			fmt.Fprintln(w, "removed", f.Path)
			if err := os.Remove(p); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(w, "wrote", f.Path)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
