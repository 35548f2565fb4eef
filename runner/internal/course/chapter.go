package course

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/controllings/controllings/runner/internal/hint"
)

// Chapter is a chapter's folder and what its chapter.yaml says.
type Chapter struct {
	Number   int    // 1
	ID       string // 01-clientset
	Dir      string // absolute: chapters/01-clientset
	Solution string // absolute: solutions/01-clientset; may be missing

	Title          string
	Minutes        int
	StretchMinutes int
	// Complete says that the chapter claims to meet the course's rules for the
	// number of mistakes and alternatives. Until then `lab verify` lists what is
	// missing without failing.
	Complete bool
	// Files are the learner's, relative to Dir, with slashes.
	Files  []string
	Checks []Check
	// Benches are what the lesson's numbers come from.
	Benches []Bench
}

// Check is an entry of a chapter's list.
type Check struct {
	Test    string
	Step    string
	Title   string
	Points  int
	Stretch bool
	After   []string      // tests that have to pass first; a rule of display
	Serial  bool          // alone on the cluster
	Window  time.Duration // what it must wait, on top of its time limit
	Needs   []string      // abilities of the cluster, of the list Needs
	Hints   []string      // from a nudge to nearly the answer
}

// file is chapter.yaml as written.
type file struct {
	Title          string       `yaml:"title"`
	Minutes        int          `yaml:"minutes"`
	StretchMinutes int          `yaml:"stretch_minutes"`
	Complete       *bool        `yaml:"complete"`
	Files          []text       `yaml:"files"`
	Checks         []entry      `yaml:"checks"`
	Benches        []benchEntry `yaml:"benches"`
}

type entry struct {
	Test    text     `yaml:"test"`
	Step    text     `yaml:"step"`
	Title   text     `yaml:"title"`
	Points  *int     `yaml:"points"`
	Stretch bool     `yaml:"stretch"`
	After   []text   `yaml:"after"`
	Serial  bool     `yaml:"serial"`
	Window  duration `yaml:"window"`
	Needs   []text   `yaml:"needs"`
	Hints   []text   `yaml:"hints"`
	line    int
}

func (e *entry) UnmarshalYAML(n *yaml.Node) error {
	// The decoder's strictness does not reach through a custom unmarshaler.
	if err := known(n, "test", "step", "title", "points", "stretch", "after", "serial", "window", "needs", "hints"); err != nil {
		return err
	}
	type plain entry
	if err := n.Decode((*plain)(e)); err != nil {
		return err
	}
	e.line = n.Line
	return nil
}

// text is a string with the line it stands in.
type text struct {
	s    string
	line int
}

func (t *text) UnmarshalYAML(n *yaml.Node) error {
	t.line = n.Line
	return n.Decode(&t.s)
}

type duration time.Duration

func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v < 0 {
		return &lineError{n.Line, fmt.Sprintf("window %q is no duration", n.Value), "write it as 3s or 500ms"}
	}
	*d = duration(v)
	return nil
}

// lineError is a mistake in a chapter.yaml at one line.
type lineError struct {
	line      int
	msg, hint string
}

func (e *lineError) Error() string { return e.msg }

func known(n *yaml.Node, fields ...string) error {
	if n.Kind != yaml.MappingNode {
		return &lineError{n.Line, "a list of fields is wanted here", "fields: " + strings.Join(fields, ", ")}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if !slices.Contains(fields, k.Value) {
			h := "fields: " + strings.Join(fields, ", ")
			if near := nearest(k.Value, fields); near != "" {
				h = fmt.Sprintf("did you mean %q?", near)
			}
			return &lineError{k.Line, fmt.Sprintf("unknown field %q", k.Value), h}
		}
	}
	return nil
}

// folders is a chapter of which only the folders are known.
func (c *Course) folders(id string) *Chapter {
	return &Chapter{
		Number:   number(id),
		ID:       id,
		Dir:      filepath.Join(c.Root, "chapters", id),
		Solution: filepath.Join(c.Root, "solutions", id),
	}
}

// Lesson is the chapter's README.
func (ch *Chapter) Lesson() string { return filepath.Join(ch.Dir, "README.md") }

// load reads the chapter in chapters/id.
func (c *Course) load(id string) (*Chapter, error) {
	ch := c.folders(id)
	name := filepath.Join(ch.Dir, "chapter.yaml")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, hint.New("each chapter needs a chapter.yaml; `git status` shows whether it was deleted", "chapter %s: %w", id, err)
	}
	if err := ch.parse(data); err != nil {
		shown := c.Rel(name)
		var at *lineError
		if errors.As(err, &at) {
			if at.line > 0 {
				shown = fmt.Sprintf("%s:%d", shown, at.line)
			}
			return nil, hint.New(at.hint, "%s: %s", shown, at.msg)
		}
		line, msg := plainYAML(err)
		return nil, hint.New("mend the file; CONTRIBUTING.md says what a chapter.yaml holds", "%s%s: %s", shown, line, msg)
	}
	return ch, nil
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// plainYAML is the parser's first message without the parser's name, and its
// line as ":12", "" if it gives none.
func plainYAML(err error) (line, msg string) {
	msg = strings.TrimPrefix(err.Error(), "yaml: ")
	msg = strings.TrimPrefix(msg, "unmarshal errors:\n")
	msg, _, _ = strings.Cut(strings.TrimSpace(msg), "\n")
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		return ":" + m[1], msg[len(m[0]):]
	}
	return "", msg
}

var (
	testName = regexp.MustCompile(`^Test[^a-z][A-Za-z0-9_]*$`)
	stepName = regexp.MustCompile(`^[0-9]+\.[0-9]+[a-z]?$`)
)

func (ch *Chapter) parse(data []byte) error {
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return &lineError{0, "is empty", "it needs title, minutes, files and checks"}
		}
		return err
	}
	if err := known(doc.Content[0], "title", "minutes", "stretch_minutes", "complete", "files", "checks", "benches"); err != nil {
		return err
	}
	var f file
	if err := doc.Decode(&f); err != nil {
		return err
	}
	ch.Title, ch.Minutes, ch.StretchMinutes = f.Title, f.Minutes, f.StretchMinutes
	ch.Complete = f.Complete == nil || *f.Complete
	switch {
	case strings.TrimSpace(f.Title) == "":
		return &lineError{0, "has no title", "add: title: …"}
	case f.Minutes <= 0:
		return &lineError{0, "has no minutes", "add how long the chapter takes: minutes: 60"}
	case len(f.Files) == 0:
		return &lineError{0, "names no files", "add what the learner edits: files: [x.go]"}
	case len(f.Checks) == 0:
		return &lineError{0, "lists no checks", "a chapter without checks can't be passed; add at least one"}
	}
	for _, t := range f.Files {
		if err := goodFile(t); err != nil {
			return err
		}
		if slices.Contains(ch.Files, t.s) {
			return &lineError{t.line, fmt.Sprintf("file %q is listed twice", t.s), "remove one"}
		}
		ch.Files = append(ch.Files, t.s)
	}
	for _, e := range f.Checks {
		if err := ch.addCheck(e); err != nil {
			return err
		}
	}
	for _, e := range f.Benches {
		if err := ch.addBench(e); err != nil {
			return err
		}
	}
	return nil
}

func goodFile(t text) error {
	switch {
	case t.s != path.Clean(t.s), path.IsAbs(t.s), t.s == ".", t.s == "..", strings.HasPrefix(t.s, "../"), strings.Contains(t.s, `\`):
		return &lineError{t.line, fmt.Sprintf("file %q leads out of the chapter", t.s), "name it relative to the chapter's folder, with slashes"}
	case strings.HasSuffix(t.s, "_test.go"), t.s == "go.mod", t.s == "go.sum", t.s == "chapter.yaml", t.s == "README.md":
		return &lineError{t.line, fmt.Sprintf("file %q is the course's, never the learner's", t.s), "list only what the learner edits"}
	}
	return nil
}

func (ch *Chapter) addCheck(e entry) error {
	switch {
	case !testName.MatchString(e.Test.s):
		return &lineError{e.line, fmt.Sprintf("check has no good test name: %q", e.Test.s), "test: TestSomething, as in the chapter's *_test.go"}
	case !stepName.MatchString(e.Step.s):
		return &lineError{e.line, fmt.Sprintf("check %s has no good step: %q", e.Test.s, e.Step.s), `step: "1.2", in quotes`}
	case strings.TrimSpace(e.Title.s) == "":
		return &lineError{e.line, fmt.Sprintf("check %s has no title", e.Test.s), "title: what the learner's code does then"}
	case e.Points != nil && *e.Points < 0:
		return &lineError{e.line, fmt.Sprintf("check %s has negative points", e.Test.s), "points: 1 or more"}
	}
	c := Check{
		Test: e.Test.s, Step: e.Step.s, Title: e.Title.s, Points: 1,
		Stretch: e.Stretch, Serial: e.Serial, Window: time.Duration(e.Window),
	}
	if e.Points != nil {
		c.Points = *e.Points
	}
	for _, before := range ch.Checks {
		if before.Test == c.Test {
			return &lineError{e.line, fmt.Sprintf("check %s is listed twice", c.Test), "one entry a test"}
		}
	}
	for _, a := range e.After {
		if !slices.ContainsFunc(ch.Checks, func(b Check) bool { return b.Test == a.s }) {
			return &lineError{a.line, fmt.Sprintf("check %s comes after %q, which is not above it", c.Test, a.s), "after: names tests that are listed earlier"}
		}
		c.After = append(c.After, a.s)
	}
	var err error
	if c.Needs, err = needs(e); err != nil {
		return err
	}
	for _, h := range e.Hints {
		c.Hints = append(c.Hints, strings.TrimSpace(h.s))
	}
	ch.Checks = append(ch.Checks, c)
	return nil
}

// Check returns the chapter's check of that test, or nil.
func (ch *Chapter) Check(test string) *Check {
	for i := range ch.Checks {
		if ch.Checks[i].Test == test {
			return &ch.Checks[i]
		}
	}
	return nil
}
