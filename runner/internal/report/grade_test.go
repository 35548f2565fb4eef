package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/verdict"
)

// hostile is what a submission may make its checks say.
const hostile = "\x1b[2J\x1b]0;owned\x07\r\n::error file=a,line=1::forged\n  ::set-env name=PATH::/evil\n##[add-path]/evil ##vso[task.complete result=Succeeded;]\n" +
	"</failure></testcase><testcase name=\"forged\"/>]]>&<script>alert(1)</script>\n</pre></details> | a | **b** `c`\x00\x7f\u009b31m\u202e\u2028\xff%0A::warning::x"

func check(test, step, title string, s verdict.Status, points int) verdict.Check {
	return verdict.Check{Test: test, Step: step, Title: title, Status: s, MaxScore: points, Seconds: 0.25}
}

func settled(checks ...verdict.Check) *verdict.Result {
	r := &verdict.Result{
		Version: 1, Chapter: "02-informers", Number: 2, Title: "Informers", Answer: "submission",
		Cluster: verdict.Cluster{Provider: "embedded", Kubernetes: "v1.37.2"}, Checks: checks, Seconds: 1.5,
	}
	r.Settle()
	return r
}

// grades are one of each kind.
func grades() map[string]*verdict.Grade {
	passed := check("TestA", "2.1", "reads from the cache", verdict.Passed, 2)
	failed := check("TestB", "2.2", "asks the API server no more", verdict.Failed, 3)
	failed.Expected, failed.Actual, failed.See, failed.Hint = "0 GET requests", "214 GET requests\nGET /api/v1/pods   200", "README.md#listers", "make hint-2"
	failed.Message = "expected 0 GET requests, seen 214"
	failed.Where = &verdict.Place{File: "chapters/02-informers/informers.go", Line: 41}
	failed.SeeTitle, failed.SeeAt = "Listers", verdict.Place{File: "chapters/02-informers/README.md", Line: 12}
	panics := check("TestP", "2.7", "survives", verdict.Failed, 1)
	panics.Message, panics.Expected, panics.Actual = "panic: nil map", "no panic", "panic: nil map"
	panics.Frames = []verdict.Place{{File: "chapters/02-informers/a.go", Line: 3}, {File: "chapters/02-informers/b.go", Line: 4}}
	panics.Printed = "debug: here"
	blocked := check("TestC", "2.3", "sees a change", verdict.Failed, 1)
	blocked.After = []string{"TestB"}
	notStarted := check("TestD", "2.4", "ends with its context", verdict.NotStarted, 1)
	skipped := check("TestE", "2.5", "survives a restart", verdict.Skipped, 1)
	skipped.Message = "this cluster can't restart its API server"
	broke := check("TestF", "2.6", "counts", verdict.Error, 1)
	broke.Message = "the cluster does not answer, so this says nothing about your code"
	stretch := func(c verdict.Check) verdict.Check { c.Test += "S"; c.Stretch = true; return c }

	evil := check("TestB", "2.2", "asks | the *API* server <b>", verdict.Failed, 3)
	evil.Expected, evil.Actual, evil.Message, evil.Printed, evil.See, evil.SeeTitle = hostile, hostile, hostile, hostile, hostile, hostile
	evil.Where = &verdict.Place{File: "chapters/02-informers/a,b:c%\n::error::.go", Line: 1}
	evil.Frames = []verdict.Place{*evil.Where}

	build := settled(passed, failed)
	build.Build = &verdict.Build{Lines: []string{"chapters/02-informers/informers.go:3:41: undefined: nme", hostile}, First: failed.Where}
	for i := range build.Checks {
		build.Checks[i] = check(build.Checks[i].Test, build.Checks[i].Step, build.Checks[i].Title, verdict.Blocked, 1)
	}
	build.Settle()

	refused := *build
	refused.Build = &verdict.Build{Refused: true, Lines: []string{`chapters/02-informers/a.go:3: not in an answer: import "unsafe"`}, Advice: "the chapter is about the API server"}

	notJudged := settled(broke)
	notJudged.Error = new(string)
	*notJudged.Error = "stage the answer: " + hostile
	notJudged.Settle()
	other := settled(passed)
	other.Chapter, other.Number, other.Title = "03-workqueue", 3, "Workqueue"

	one := func(r *verdict.Result) *verdict.Grade {
		return &verdict.Grade{Single: true, Chapters: []*verdict.Result{r}}
	}
	finished := "interrupted"
	all := map[string]*verdict.Grade{
		"passed":      one(settled(passed, stretch(passed), stretch(failed), stretch(notStarted), stretch(skipped))),
		"failed":      one(settled(passed, failed, blocked, notStarted, skipped, broke, panics)),
		"wrong":       one(settled(passed, failed, blocked, notStarted)),
		"not-started": one(settled(notStarted)),
		"skipped":     one(settled(passed, skipped)),
		"build":       one(build),
		"refused":     one(&refused),
		"error":       one(notJudged),
		"hostile":     one(settled(evil)),
		"list":        {Chapters: []*verdict.Result{settled(passed, failed), other}},
		"list-passed": {Chapters: []*verdict.Result{settled(passed), other}},
		"interrupted": {Chapters: []*verdict.Result{other, notJudged}, Error: &finished},
		"nothing":     {Chapters: []*verdict.Result{}, Error: &finished},
	}
	for _, g := range all {
		g.Settle()
	}
	return all
}

var stopWord = regexp.MustCompile(`(?m)^(::(?:stop-commands::)?)[A-Z2-7]{26}((?:::)?)$`)

// The files in testdata show what each format looks like. UPDATE_GOLDEN=1 writes
// them.
func TestGrade(t *testing.T) {
	for name, g := range grades() {
		for _, f := range Formats {
			t.Run(name+"/"+string(f), func(t *testing.T) {
				data, err := Grade(f, g)
				require.NoError(t, err)
				golden(t, name+"."+string(f), stopWord.ReplaceAll(data, []byte("${1}WORD${2}")))
			})
		}
		t.Run(name+"/summary", func(t *testing.T) { golden(t, name+".md", Summary(g)) })
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "UPDATE_GOLDEN=1 go test writes it")
	assert.Equal(t, string(want), string(got))
}

// strict is the schema without the leave to add fields, so that one which the
// schema does not know shows here.
func strict(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(Schema))
	require.NoError(t, err)
	defs := doc.(map[string]any)["$defs"].(map[string]any)
	for name, def := range defs {
		if d := def.(map[string]any); d["type"] == "object" {
			d["additionalProperties"] = false
			defs[name] = d
		}
	}
	return compiled(t, doc)
}

func compiled(t *testing.T, doc any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("urn:controllings:grade:1", doc))
	s, err := c.Compile("urn:controllings:grade:1")
	require.NoError(t, err)
	return s
}

func TestSchema(t *testing.T) {
	s := strict(t)
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, files, len(grades()))
	var sample []byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		require.NoError(t, err, file)
		assert.NoError(t, s.Validate(v), file)
		if file == "testdata/failed.json" {
			sample = data
		}
	}
	// And it turns down what a grade never is.
	for what, change := range map[string]func(map[string]any){
		"no status":                    func(r map[string]any) { delete(r, "status") },
		"a word that nobody knows":     func(r map[string]any) { r["status"] = "fine" },
		"a negative score":             func(r map[string]any) { r["score"] = -1 },
		"another version":              func(r map[string]any) { r["version"] = 2 },
		"a pass that is not finished":  func(r map[string]any) { r["status"], r["error"] = "passed", "not finished" },
		"no list of checks":            func(r map[string]any) { r["checks"] = nil },
		"an unknown field":             func(r map[string]any) { r["colour"] = "red" },
		"points for a check that fell": func(r map[string]any) { r["checks"].([]any)[1].(map[string]any)["score"] = 1 },
		"a check without a test":       func(r map[string]any) { delete(r["checks"].([]any)[0].(map[string]any), "test") },
	} {
		var r map[string]any
		require.NoError(t, json.Unmarshal(sample, &r))
		require.NoError(t, s.Validate(r))
		change(r)
		assert.Error(t, s.Validate(r), what)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(Schema))
	require.NoError(t, err)
	var r map[string]any
	require.NoError(t, json.Unmarshal(sample, &r))
	r["colour"] = "red"
	assert.NoError(t, compiled(t, doc).Validate(r), "a later lab may add a field")
}

// A suite is green where lab's exit code is 0, and only there.
func TestJUnitIsRedWithTheExitCode(t *testing.T) {
	for name, g := range grades() {
		data, err := Grade(AsJUnit, g)
		require.NoError(t, err)
		var s junitSuites
		require.NoError(t, xml.Unmarshal(data, &s), name)
		assert.Equal(t, g.Exit() != 0, s.Failures+s.Errors > 0, name)
		tests := 0
		for _, suite := range s.Suites {
			tests += len(suite.Cases)
			for _, c := range suite.Cases {
				assert.NotEqual(t, "forged", c.Name, name)
			}
		}
		assert.Equal(t, s.Tests, tests, name)
	}
}

// Every character of a hostile text arrives in a form that gives no orders.
func TestNoOrders(t *testing.T) {
	for name, g := range grades() {
		for _, f := range []Format{AsText, AsJUnit, AsGitHub} {
			data, err := Grade(f, g)
			require.NoError(t, err)
			text := string(data)
			if f == AsJUnit {
				text = xmlText(t, data)
			}
			for _, r := range text {
				require.Falsef(t, unsafeRune(r), "%s as %s holds %U", name, f, r)
			}
			assert.NotRegexp(t, `##\w*\[`, text, "%s as %s", name, f)
			commands := 0
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(strings.TrimSpace(line), "::") {
					continue
				}
				commands++
				require.Equal(t, AsGitHub, f, line)
				assert.Regexp(t, `^::(group|stop-commands|endgroup|error|warning|notice|[A-Z2-7]{26})( |::)`, line)
				assert.NotRegexp(t, `^::(error|warning|notice) [^:]*\n?$`, line)
			}
			if f == AsGitHub {
				assert.LessOrEqual(t, commands, 4+2*len(g.Chapters)+16)
			}
		}
		md := string(Summary(g))
		assert.NotContains(t, md, "<script>")
		assert.Equal(t, strings.Count(md, "<pre>"), strings.Count(md, "</pre>"))
		data, err := Grade(AsJSON, g)
		require.NoError(t, err)
		assert.NotRegexp(t, `##\w*\[`, string(data))
	}
}

// xmlText is all text and all attributes, as a reader gets them.
func xmlText(t *testing.T, data []byte) string {
	t.Helper()
	var b strings.Builder
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		require.NoError(t, err)
		switch tok := tok.(type) {
		case xml.CharData:
			b.Write(tok)
		case xml.StartElement:
			for _, a := range tok.Attr {
				b.WriteString(a.Value)
			}
		}
	}
}

// JSON is data: what was said arrives as it was.
func TestJSONIsExact(t *testing.T) {
	data, err := Grade(AsJSON, grades()["hostile"])
	require.NoError(t, err)
	var r verdict.Result
	require.NoError(t, json.Unmarshal(data, &r))
	assert.Equal(t, strings.ToValidUTF8(hostile, "\uFFFD"), r.Checks[0].Actual)
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain, with\ttabs\nand lines": "plain, with\ttabs\nand lines",
		"Zoë 课程 ✓ \u00ad":              "Zoë 课程 ✓ \u00ad",
		"a\r\nb\rc":                    `a` + "\n" + `b\x0dc`,
		"\x1b[31mred":                  `\x1b[31mred`,
		"\uFFFD stays":                 "\uFFFD stays",
		"\xff\xfe":                     `\xff\xfe`,
		"a::b":                         "a::b",
		"x\n \u00a0::debug::y":         "x\n \u00a0\\::debug::y",
		"##[group]":                    `##\[group]`,
		"a ##vso[x] ##":                `a ##vso\[x] ##`,
		"## Heading [link]":            "## Heading [link]",
		"\u2028::error::":              `\u2028::error::`,
	} {
		assert.Equal(t, want, Clean(in))
		assert.Equal(t, want, Clean(Clean(in)), "again changes nothing")
	}
}

func TestParseFormat(t *testing.T) {
	for _, f := range Formats {
		got, err := ParseFormat(string(f))
		require.NoError(t, err)
		assert.Equal(t, f, got)
	}
	for _, s := range []string{"", "JSON", "xml"} {
		_, err := ParseFormat(s)
		assert.Error(t, err, s)
	}
}
