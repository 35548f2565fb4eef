package answer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/controllings/controllings/runner/internal/hint"
)

// Patch is a patch file: a head that says what it is about, then a unified
// diff against the solution, with a/ and b/ paths from the chapter's folder.
type Patch struct {
	Title      string
	Wrong      string // of a mistake: what is wrong, and why
	Right      string // of an alternative: why it is right too
	RejectedBy string // the check that must fail
	Says       string // words that its message must hold
	Source     string // where this was seen

	Head string // as written, with its line end
	Diff string
}

// heads are the words a head may hold, in the order they are written.
var heads = []string{"Title", "Wrong", "Right", "Rejected-By", "Says", "Source"}

// ReadPatch reads a patch file. Its errors name file and line.
func ReadPatch(path, shown string) (*Patch, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.New("`bin/lab author edit` makes one", "there is no %s", shown)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", shown, err)
	}
	return parsePatch(string(data), shown)
}

func parsePatch(data, shown string) (*Patch, error) {
	p := &Patch{}
	fields := map[string]*string{"Title": &p.Title, "Wrong": &p.Wrong, "Right": &p.Right, "Rejected-By": &p.RejectedBy, "Says": &p.Says, "Source": &p.Source}
	var current *string
	rest, line := data, 0
	for rest != "" {
		text, after, _ := strings.Cut(rest, "\n")
		if strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "--- ") {
			break
		}
		line++
		rest = after
		bad := func(what, next string) error { return hint.New(next, "%s:%d: %s", shown, line, what) }
		switch {
		case strings.TrimSpace(text) == "":
			current = nil
		case strings.HasPrefix(text, " "), strings.HasPrefix(text, "\t"):
			if current == nil {
				return nil, bad("an indented line that continues nothing", "a value goes on in lines that are indented, without an empty line between")
			}
			*current += " " + strings.TrimSpace(text)
		default:
			name, value, ok := strings.Cut(text, ":")
			if !ok || !slices.Contains(heads, name) {
				return nil, bad(fmt.Sprintf("%q is no head line", text), "head lines are "+strings.Join(heads, ":, ")+":")
			}
			if current = fields[name]; *current != "" {
				return nil, bad(name+": stands twice", "remove one")
			}
			*current = strings.TrimSpace(value)
		}
	}
	p.Head, p.Diff = data[:len(data)-len(rest)], rest
	return p, nil
}

// Touches lists the files that the diff names, without a/ and b/.
func (p *Patch) Touches() []string {
	var files []string
	for line := range strings.Lines(p.Diff) {
		for _, prefix := range []string{"--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "} {
			name, ok := strings.CutPrefix(line, prefix)
			if !ok {
				continue
			}
			name = strings.Trim(strings.TrimSpace(name), `"`)
			if strings.HasSuffix(prefix, "- ") || strings.HasSuffix(prefix, "+ ") {
				if _, after, ok := strings.Cut(name, "/"); ok {
					name = after
				}
				if strings.Contains(line, "/dev/null") {
					continue
				}
			}
			if !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	return files
}
