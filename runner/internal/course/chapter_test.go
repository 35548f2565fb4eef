package course

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/hint"
)

const good = `title: Informers
minutes: 60
stretch_minutes: 30
files: [informers.go, config/a.yaml]
checks:
  - test: TestA
    step: "2.1"
    title: first
    points: 3
    hints: [one, two]
  - test: TestB
    step: "2.2"
    title: second
    stretch: true
    after: [TestA]
    serial: true
    window: 3s
    needs: [restart]
    hints: [one]
`

func load(t *testing.T, yaml string) (*Chapter, error) {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o600))
	dir := filepath.Join(root, "chapters", "02-informers")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "chapter.yaml"), []byte(yaml), 0o600))
	c, err := Open(dir, "", "")
	require.NoError(t, err)
	return c.Chapter("2")
}

func TestChapter(t *testing.T) {
	ch, err := load(t, good)
	require.NoError(t, err)
	assert.Equal(t, 2, ch.Number)
	assert.Equal(t, "02-informers", ch.ID)
	assert.True(t, ch.Complete, "a chapter claims to be complete unless it says otherwise")
	assert.Equal(t, []string{"informers.go", "config/a.yaml"}, ch.Files)
	assert.Equal(t, []Check{
		{Test: "TestA", Step: "2.1", Title: "first", Points: 3, Hints: []string{"one", "two"}},
		{Test: "TestB", Step: "2.2", Title: "second", Points: 1, Stretch: true, After: []string{"TestA"}, Serial: true,
			Window: 3 * time.Second, Needs: []string{"restart"}, Hints: []string{"one"}},
	}, ch.Checks)
}

func TestBadChapter(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want, hint string }{
		"unknown field":       {"minutes: 60", "minuets: 60", `:2: unknown field "minuets"`, `did you mean "minutes"?`},
		"far from any field":  {"minutes: 60", "colour: red", `:2: unknown field "colour"`, "fields: title, minutes"},
		"unknown in a check":  {"points: 3", "pints: 3", `:9: unknown field "pints"`, `did you mean "points"?`},
		"no title":            {"title: Informers\n", "", ": has no title", "add: title"},
		"no time":             {"minutes: 60\n", "", ": has no minutes", "minutes: 60"},
		"time in words":       {"minutes: 60", "minutes: an hour", ":2: cannot", ""},
		"no files":            {"[informers.go, config/a.yaml]", "[]", ": names no files", ""},
		"a file outside":      {"config/a.yaml", "../x.go", `:4: file "../x.go" leads out`, ""},
		"a check as a file":   {"config/a.yaml", "a_test.go", `:4: file "a_test.go" is the course's`, ""},
		"go.mod as a file":    {"config/a.yaml", "go.mod", `:4: file "go.mod" is the course's`, ""},
		"a file twice":        {"config/a.yaml", "informers.go", "listed twice", ""},
		"no such before":      {"after: [TestA]", "after: [TestC]", `:15: check TestB comes after "TestC"`, ""},
		"after itself":        {"after: [TestA]", "after: [TestB]", "not above it", ""},
		"a check twice":       {"test: TestB", "test: TestA", "check TestA is listed twice", ""},
		"a name of no test":   {"test: TestB", "test: Testb", `no good test name: "Testb"`, ""},
		"a pattern as a name": {"test: TestB", "test: Test.*", "no good test name", ""},
		"a step in words":     {`"2.2"`, `two`, `no good step: "two"`, ""},
		"a bad window":        {"window: 3s", "window: 3", `:17: window "3" is no duration`, "3s"},
		"a negative window":   {"window: 3s", "window: -3s", "is no duration", ""},
		"an unknown need":     {"needs: [restart]", "needs: [teleport]", `:18: check TestB needs "teleport"`, "there are: restart, compact, nodes"},
		"a need with a typo":  {"needs: [restart]", "needs: [node]", `:18: check TestB needs "node"`, `did you mean "nodes"?`},
		"a need twice":        {"needs: [restart]", "needs: [nodes, nodes]", `:18: check TestB needs "nodes" twice`, ""},
		"a need among others": {"    serial: true\n", "", `:11: check TestB needs restart, but is not serial`, "serial: true"},
		"negative points":     {"points: 3", "points: -3", "negative points", ""},
		"no YAML":             {"title: Informers", "title: [Informers", "chapter.yaml:", ""},
		"a list":              {good, "- a\n- b\n", "a list of fields is wanted", ""},
		"empty":               {good, "", "is empty", ""},
		"no checks":           {good, "title: a\nminutes: 1\nfiles: [a.go]\n", "lists no checks", ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, good, c.old)
			_, err := load(t, strings.Replace(good, c.old, c.new, 1))
			require.Error(t, err)
			assert.Contains(t, err.Error(), "chapters/02-informers/chapter.yaml")
			assert.Contains(t, err.Error(), c.want)
			assert.NotContains(t, err.Error(), "\n")
			assert.NotEmpty(t, hint.Of(err))
			assert.Contains(t, hint.Of(err), c.hint)
		})
	}
}

func TestChapterByName(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o600))
	for _, id := range []string{"10-leases", "02-informers", "01-clientset", "no-number", ".hidden"} {
		dir := filepath.Join(root, "chapters", id)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "chapter.yaml"), []byte(good), 0o600))
	}
	c, err := Open(filepath.Join(root, "chapters", "10-leases"), "", "")
	require.NoError(t, err)
	for name, want := range map[string]string{
		"1": "01-clientset", "01": "01-clientset", "001": "01-clientset", "01-clientset": "01-clientset", "clientset": "01-clientset",
		"chapters/01-clientset/": "01-clientset", "10": "10-leases", "0": "", "3": "", "-1": "", "": "", "client": "", "no-number": "",
	} {
		ch, err := c.Chapter(name)
		if want == "" {
			assert.Error(t, err, name)
			continue
		}
		if assert.NoError(t, err, name) {
			assert.Equal(t, want, ch.ID, name)
		}
	}
	list, err := c.List()
	require.NoError(t, err)
	var ids []string
	for _, e := range list.Chapters {
		ids = append(ids, e.Chapter)
	}
	assert.Equal(t, []string{"01-clientset", "02-informers", "10-leases"}, ids)
	first, err := c.Chapter("1")
	require.NoError(t, err)
	assert.Equal(t, "02-informers", c.After(first).ID)
	last, err := c.Chapter("10")
	require.NoError(t, err)
	assert.Nil(t, c.After(last))
}

func TestPlaces(t *testing.T) {
	ch := &Chapter{Dir: t.TempDir(), Files: []string{"a.go"}}
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(ch.Dir, name), []byte(text), 0o600))
	}
	write("README.md", "# A title\n\n```sh\n# no heading\n```\n\n## Selectors, and `more`\n\n"+
		"### Step 2.1 · Ask for less (`a.go`, `List`) · 10 min\n\n> **Step 2.2 · Walk** (`a.go`, `T.Walk` and others) · 5 min\n\n> **Step 2.3 · Nowhere** · 5 min\n")
	write("a.go", "package a\n\nfunc List() {}\n\n// TODO(2.2): walk\nfunc (t *T) Walk() {}\n")

	for see, want := range map[string]string{
		"README.md#selectors-and-more":                     "Selectors, and more",
		"README.md#selectors":                              "Selectors, and more", // with a tail
		"#selectors-and-more":                              "Selectors, and more",
		"README.md#step-21--ask-for-less-ago-list--10-min": "Step 2.1 · Ask for less (a.go, List)",
		"README.md#no-heading":                             "",
		"README.md#":                                       "",
		"../../README.md#selectors":                        "",
		"OTHER.md#selectors":                               "",
	} {
		_, h, ok := ch.FindHeading(see)
		assert.Equal(t, want, h.Text, see)
		assert.Equal(t, want != "", ok, see)
	}
	for step, want := range map[string]struct {
		lesson, todo, fn int
	}{"2.1": {9, 0, 3}, "2.2": {11, 5, 6}, "2.3": {13, 0, 0}, "2.4": {0, 0, 0}, "2": {0, 0, 0}} {
		_, h, _ := ch.StepHeading(step)
		assert.Equal(t, want.lesson, h.Line, "lesson of step %s", step)
		_, line, _ := ch.FindTODO(ch.Dir, step)
		assert.Equal(t, want.todo, line, "TODO of step %s", step)
		_, line, _ = ch.StepFunc(ch.Dir, step)
		assert.Equal(t, want.fn, line, "function of step %s", step)
	}
}
