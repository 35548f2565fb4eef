// Package steps proves that the lesson, the stub, the check and the hints of one
// step bear the same number, so that a learner can follow it from each to each.
package steps

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

var (
	lessonStep = regexp.MustCompile(`\*\*Step (\d+\.\d+[a-z]?)\b|^#+ Step (\d+\.\d+[a-z]?)\b`)
	todoMark   = regexp.MustCompile(`TODO\((\d+\.\d+[a-z]?)\)`)
	todoCall   = regexp.MustCompile(`todo\.Step\("([^"]*)"\)`)
	testFunc   = regexp.MustCompile(`^func (Test\w+)\(`)
	stepWords  = regexp.MustCompile(`\b[Ss]tep (\d+\.\d+[a-z]?)\b`)
)

// Check looks at every chapter.
func Check(_ context.Context, r *repo.Repo) ([]repo.Finding, error) {
	names, err := r.Chapters()
	if err != nil {
		return nil, err
	}
	var found []repo.Finding
	for _, name := range names {
		ch, err := r.Chapter(name)
		if err != nil {
			return nil, err
		}
		c := checker{repo: r, ch: ch}
		if err := c.run(); err != nil {
			return nil, err
		}
		found = append(found, c.found...)
	}
	return found, nil
}

type checker struct {
	repo  *repo.Repo
	ch    repo.Chapter
	found []repo.Finding
}

func (c *checker) object(file string, line int, format string, args ...any) {
	c.found = append(c.found, repo.Finding{
		Path: path.Join("chapters", c.ch.Name, file), Line: line, Text: fmt.Sprintf(format, args...)})
}

func (c *checker) run() error {
	steps := c.list()
	if err := c.lesson(steps); err != nil {
		return err
	}
	if err := c.stubs(steps); err != nil {
		return err
	}
	return c.checks(steps)
}

// list returns the steps that chapter.yaml names, in its order.
func (c *checker) list() []string {
	chapter := strings.TrimLeft(c.ch.Name[:2], "0")
	var steps []string
	for _, ck := range c.ch.Checks {
		if !strings.HasPrefix(ck.Step, chapter+".") {
			c.object("chapter.yaml", 0, "%s: step %q is none of chapter %s", ck.Test, ck.Step, chapter)
		}
		if slices.Contains(steps, ck.Step) {
			c.object("chapter.yaml", 0, "%s: step %s has a check already", ck.Test, ck.Step)
			continue
		}
		steps = append(steps, ck.Step)
		for _, h := range ck.Hints {
			for _, m := range stepWords.FindAllStringSubmatch(h, -1) {
				if m[1] != ck.Step {
					c.object("chapter.yaml", 0, "%s: a hint of step %s speaks of step %s", ck.Test, ck.Step, m[1])
				}
			}
		}
	}
	return steps
}

// lesson wants each step once in README.md, in the order of chapter.yaml.
func (c *checker) lesson(steps []string) error {
	seen, err := c.scan("README.md", lessonStep)
	if err != nil {
		return err
	}
	var order []string
	for _, s := range seen {
		switch {
		case !slices.Contains(steps, s.text):
			c.object("README.md", s.line, "step %s has no check in chapter.yaml", s.text)
		case slices.Contains(order, s.text):
			c.object("README.md", s.line, "step %s is told twice", s.text)
		default:
			order = append(order, s.text)
		}
	}
	for _, s := range steps {
		if !slices.Contains(order, s) {
			c.object("README.md", 0, "no **Step %s · …**, and chapter.yaml checks it", s)
		}
	}
	if len(order) == len(steps) && !slices.Equal(order, steps) {
		c.object("README.md", 0, "tells the steps in the order %s, chapter.yaml in %s", strings.Join(order, " "), strings.Join(steps, " "))
	}
	return nil
}

// stubs wants a TODO for each step in the learner's files, and in a Go file
// todo.Step with the same numbers.
func (c *checker) stubs(steps []string) error {
	var marked []string
	for _, f := range c.ch.Files {
		marks, err := c.scan(f, todoMark)
		if err != nil {
			return err
		}
		calls, err := c.scan(f, todoCall)
		if err != nil {
			return err
		}
		for _, s := range slices.Concat(marks, calls) {
			if !slices.Contains(steps, s.text) {
				c.object(f, s.line, "step %s is not in chapter.yaml", s.text)
			}
		}
		marked = append(marked, texts(marks)...)
		if filepath.Ext(f) != ".go" {
			continue
		}
		for _, s := range marks {
			if !slices.Contains(texts(calls), s.text) {
				c.object(f, s.line, "TODO(%s) without todo.Step(%q)", s.text, s.text)
			}
		}
		for _, s := range calls {
			if !slices.Contains(texts(marks), s.text) {
				c.object(f, s.line, "todo.Step(%q) without TODO(%s)", s.text, s.text)
			}
		}
	}
	for _, s := range steps {
		if !slices.Contains(marked, s) {
			c.object("chapter.yaml", 0, "step %s: no TODO(%s) in %s", s, s, strings.Join(c.ch.Files, ", "))
		}
	}
	return nil
}

// checks wants each test of chapter.yaml in a *_test.go, and the comment above it
// to speak of no other step.
func (c *checker) checks(steps []string) error {
	files, err := filepath.Glob(c.repo.Path("chapters", c.ch.Name, "*_test.go"))
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, f := range files {
		name := filepath.Base(f)
		lines, err := c.lines(name)
		if err != nil {
			return err
		}
		for i, line := range lines {
			m := testFunc.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			there[m[1]] = true
			step := c.step(m[1])
			for j := i - 1; j >= 0 && strings.HasPrefix(lines[j], "//"); j-- {
				for _, w := range stepWords.FindAllStringSubmatch(lines[j], -1) {
					if slices.Contains(steps, step) && w[1] != step {
						c.object(name, j+1, "%s is step %s, its comment says %s", m[1], step, w[1])
					}
				}
			}
		}
	}
	for _, ck := range c.ch.Checks {
		if !there[ck.Test] {
			c.object("chapter.yaml", 0, "step %s: no func %s in a *_test.go", ck.Step, ck.Test)
		}
	}
	return nil
}

func (c *checker) step(test string) string {
	for _, ck := range c.ch.Checks {
		if ck.Test == test {
			return ck.Step
		}
	}
	return ""
}

type match struct {
	text string
	line int
}

func texts(ms []match) []string {
	var t []string
	for _, m := range ms {
		t = append(t, m.text)
	}
	return t
}

// scan returns what the first non-empty group of the pattern matches, by line.
func (c *checker) scan(file string, pattern *regexp.Regexp) ([]match, error) {
	lines, err := c.lines(file)
	if err != nil {
		return nil, err
	}
	var ms []match
	for i, line := range lines {
		for _, m := range pattern.FindAllStringSubmatch(line, -1) {
			for _, g := range m[1:] {
				if g != "" {
					ms = append(ms, match{g, i + 1})
					break
				}
			}
		}
	}
	return ms, nil
}

// lines returns a file's lines; none if it isn't there.
func (c *checker) lines(file string) ([]string, error) {
	data, err := os.ReadFile(c.repo.Path("chapters", c.ch.Name, file))
	if os.IsNotExist(err) {
		return nil, nil
	}
	return strings.Split(string(data), "\n"), err
}
