package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
)

// file is what a chapter's measurements make of a file.
type file struct {
	path string
	data []byte
}

// Files of a chapter that are written from its bench.json: the lesson, and a chart
// for each table.
func files(ch *course.Chapter, d *Data) ([]file, error) {
	lesson, err := os.ReadFile(ch.Lesson())
	if err != nil {
		return nil, fmt.Errorf("read the lesson: %w", err)
	}
	text := string(lesson)
	var out []file
	for _, want := range ch.Benches {
		t, err := table(d, want)
		if err != nil {
			return nil, err
		}
		picture, err := chart(d, want)
		if err != nil {
			return nil, err
		}
		svg := "bench/" + strings.TrimPrefix(want.Name, "Benchmark") + ".svg"
		if text, err = paste(text, want.Name, fmt.Sprintf("%s\n![%s](%s)\n", t, want.Title, svg)); err != nil {
			return nil, hint.New("put the two comments where the table belongs, in the part “Measured”", "%s: %w", ch.Lesson(), err)
		}
		out = append(out, file{filepath.Join(ch.Dir, filepath.FromSlash(svg)), picture})
	}
	return append(out, file{ch.Lesson(), []byte(text)}), nil
}

// paste puts text between a bench's two comments.
func paste(lesson, name, text string) (string, error) {
	begin, end := "<!-- bench: "+name+" -->\n", "<!-- end of "+name+" -->"
	before, rest, ok := strings.Cut(lesson, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("no place for the table of %s: %s and %s", name, strings.TrimSpace(begin), end)
	}
	return before + begin + "\n" + text + "\n" + end + after, nil
}

// Write writes a chapter's tables and charts from its bench.json.
func Write(ch *course.Chapter) error {
	d, err := Load(ch)
	if err != nil {
		return err
	}
	out, err := files(ch, d)
	if err != nil {
		return err
	}
	for _, f := range out {
		old, err := os.ReadFile(f.path)
		if err == nil && bytes.Equal(old, f.data) {
			continue
		}
		if err := keep(f.path, f.data); err != nil {
			return err
		}
	}
	return nil
}

// Check says which files of a chapter differ from what its bench.json makes of them.
func Check(ch *course.Chapter) (differ []string, err error) {
	d, err := Load(ch)
	if err != nil {
		return nil, err
	}
	out, err := files(ch, d)
	if err != nil {
		return nil, err
	}
	for _, f := range out {
		old, err := os.ReadFile(f.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if !bytes.Equal(old, f.data) {
			differ = append(differ, f.path)
		}
	}
	return differ, nil
}

// Text is what was measured, for a terminal.
func Text(ch *course.Chapter, d *Data) (string, error) {
	var out strings.Builder
	for _, want := range ch.Benches {
		t, err := table(d, want)
		if err != nil {
			return "", err
		}
		out.WriteString(t + "\n")
	}
	return out.String(), nil
}
