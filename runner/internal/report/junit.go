package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/controllings/controllings/runner/internal/verdict"
)

// The elements that GitLab, Jenkins and the report actions of GitHub read alike:
// https://github.com/testmoapp/junitxml.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string     `xml:"name,attr"`
	Classname string     `xml:"classname,attr"`
	File      string     `xml:"file,attr,omitempty"`
	Line      int        `xml:"line,attr,omitempty"`
	Time      string     `xml:"time,attr"`
	Failure   *junitWhat `xml:"failure"`
	Error     *junitWhat `xml:"error"`
	Skipped   *junitSkip `xml:"skipped"`
}

type junitWhat struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkip struct {
	Message string `xml:"message,attr"`
}

// gradeJUnit writes one suite a chapter and one case a check. Readers take a
// suite without failures and errors for a pass, so there are some in every
// chapter that did not pass, and none in one that did: a stretch check that did
// not pass is skipped, a required one that was skipped is an error.
func gradeJUnit(b *bytes.Buffer, g *verdict.Grade) error {
	all := junitSuites{Name: "controllings"}
	total := 0.0
	for _, r := range g.Chapters {
		s := junitChapter(clean(r))
		total += r.Seconds
		all.Suites = append(all.Suites, s)
	}
	if g.Error != nil && single(g) == nil {
		s := junitSuite{Name: "grade", Time: junitTime(0)}
		s.add(junitCase{Name: "the grade is finished", Classname: "grade", Time: junitTime(0), Error: &junitWhat{Message: Clean(*g.Error), Type: string(verdict.Error)}})
		all.Suites = append(all.Suites, s)
	}
	for _, s := range all.Suites {
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
	}
	all.Time = junitTime(total)
	b.WriteString(xml.Header)
	// It escapes what begins a tag, ends an attribute or is no character of XML.
	e := xml.NewEncoder(b)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	b.WriteByte('\n')
	return nil
}

func junitChapter(r *verdict.Result) junitSuite {
	s := junitSuite{Name: r.Chapter, Time: junitTime(r.Seconds)}
	for _, p := range []struct {
		name string
		of   any
	}{
		{"status", r.Status},
		{"score", r.Score},
		{"bonus", r.Bonus},
		{"max_score", r.MaxScore},
		{"cluster.provider", r.Cluster.Provider},
		{"cluster.kubernetes", r.Cluster.Kubernetes},
	} {
		s.Properties = append(s.Properties, junitProperty{p.name, fmt.Sprint(p.of)})
	}
	if r.Error != nil {
		s.add(junitCase{Name: "the chapter is judged", Classname: r.Chapter, Time: junitTime(0),
			Error: &junitWhat{Message: oneLine(*r.Error, 200), Type: string(verdict.Error), Text: *r.Error}})
	}
	if r.Build != nil {
		lines := strings.Join(r.Build.Lines, "\n")
		c := junitCase{Name: "the code builds", Classname: r.Chapter, Time: junitTime(0),
			Failure: &junitWhat{Message: buildTitle(r.Build) + ": " + oneLine(lines, 200), Type: string(verdict.Failed), Text: lines}}
		if p := r.Build.First; p != nil {
			c.File, c.Line = p.File, p.Line
		}
		s.add(c)
	}
	for _, check := range r.Checks {
		s.add(junitCheck(r, check))
	}
	return s
}

func junitCheck(r *verdict.Result, check verdict.Check) junitCase {
	c := junitCase{Name: check.Step + " " + check.Title, Classname: r.Chapter, Time: junitTime(check.Seconds)}
	if check.Where != nil {
		c.File, c.Line = check.Where.File, check.Where.Line
	}
	what := &junitWhat{Message: summary(check), Type: string(check.Status), Text: why(check)}
	switch {
	case check.Status == verdict.Passed:
	case check.Stretch:
		c.Skipped = &junitSkip{"a stretch step: " + what.Message}
	case check.Status == verdict.Failed, check.Status == verdict.NotStarted, check.Status == verdict.Blocked:
		c.Failure = what
	default:
		c.Error = what
	}
	return c
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func junitTime(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 3, 64) }
