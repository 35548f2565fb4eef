package course

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// Heading is a heading of a Markdown file.
type Heading struct {
	Text string // without marks, and without the minutes a step takes
	Line int
	slug string
}

// FindHeading looks up "README.md#some-anchor" (as a check's See names it)
// among the headings of the chapter's Markdown files. The anchors are made as
// GitHub makes them; one that only begins alike is found too, so that a heading
// can grow a tail.
func (ch *Chapter) FindHeading(see string) (file string, h Heading, ok bool) {
	name, anchor, _ := strings.Cut(see, "#")
	if name == "" {
		name = "README.md"
	}
	if strings.Contains(name, "..") || !strings.HasSuffix(name, ".md") {
		return "", Heading{}, false
	}
	file = filepath.Join(ch.Dir, filepath.FromSlash(name))
	headings := headings(file)
	for _, exact := range []bool{true, false} {
		for _, h := range headings {
			if h.slug == anchor || (!exact && anchor != "" && strings.HasPrefix(h.slug, anchor+"-")) {
				return file, h, true
			}
		}
	}
	return "", Heading{}, false
}

// StepHeading finds the heading of a step in the lesson: one that holds
// "Step 1.2".
func (ch *Chapter) StepHeading(step string) (file string, h Heading, ok bool) {
	file = filepath.Join(ch.Dir, "README.md")
	word := regexp.MustCompile(`(?i)\bstep ` + regexp.QuoteMeta(step) + `([^.\d]|\.\D|\.?$)`)
	for _, h := range headings(file) {
		if word.MatchString(h.Text) {
			return file, h, true
		}
	}
	// A lesson may write its steps as quoted paragraphs: > **Step 1.2 · …**
	if n, text := grep(file, word, "**"); n > 0 {
		return file, Heading{Text: text, Line: n}, true
	}
	return "", Heading{}, false
}

// StepFunc finds the function that a step is about: the lesson's heading of the
// step names file and function, as in "Step 1.2 · … (pods.go, RunningPods)".
// The file is looked for under dir.
func (ch *Chapter) StepFunc(dir, step string) (file string, line int, ok bool) {
	_, heading, ok := ch.StepHeading(step)
	if !ok {
		return "", 0, false
	}
	m := fileAndFunc.FindStringSubmatch(heading.Text)
	if m == nil {
		return "", 0, false
	}
	decl := regexp.MustCompile(`^func (\([^)]*\) )?` + m[2] + `\b`)
	n, _ := grep(filepath.Join(dir, filepath.FromSlash(m[1])), decl, "")
	return m[1], n, n > 0
}

var (
	fileAndFunc = regexp.MustCompile(`\(([\w/-]+\.go), (?:\w+\.)?(\w+)`)
	minutes     = regexp.MustCompile(` · \d+ min$`)
)

// FindTODO finds "TODO(step)" in the answer's files under dir.
func (ch *Chapter) FindTODO(dir, step string) (file string, line int, ok bool) {
	word := regexp.MustCompile(`TODO\(` + regexp.QuoteMeta(step) + `\)`)
	for _, f := range ch.Files {
		if n, _ := grep(filepath.Join(dir, filepath.FromSlash(f)), word, ""); n > 0 {
			return f, n, true
		}
	}
	return "", 0, false
}

func grep(file string, word *regexp.Regexp, also string) (line int, text string) {
	f, err := os.Open(file)
	if err != nil {
		return 0, ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if t := lines.Text(); word.MatchString(t) && strings.Contains(t, also) {
			return n, plain(strings.Trim(t, "> *"))
		}
	}
	return 0, ""
}

func headings(file string) []Heading {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var found []Heading
	fenced := false
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		t := strings.TrimSpace(strings.TrimLeft(lines.Text(), "> "))
		if strings.HasPrefix(t, "```") {
			fenced = !fenced
		}
		if fenced || !strings.HasPrefix(t, "#") {
			continue
		}
		text := strings.TrimLeft(t, "#")
		if strings.HasPrefix(text, " ") {
			text = strings.TrimSpace(text)
			found = append(found, Heading{Text: plain(text), Line: n, slug: slug(strings.ReplaceAll(text, "**", ""))})
		}
	}
	return found
}

func plain(markdown string) string {
	return minutes.ReplaceAllString(strings.NewReplacer("`", "", "**", "").Replace(markdown), "")
}

// slug is GitHub's anchor of a heading.
func slug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
