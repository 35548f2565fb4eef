package judge

import (
	"fmt"
	"strings"
	"time"

	"github.com/controllings/controllings/runner/internal/verdict"
	"github.com/controllings/controllings/todo/channel"
)

// decide turns what a check's process did into its verdict. Whatever it can't
// explain is no pass.
func decide(c *verdict.Check, r *run, p places) {
	c.Seconds = seconds(r.Elapsed)
	c.Output, c.Printed = r.Output, printed(r.Output)
	seen := map[string]*channel.Message{}
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Event != channel.NotStarted && m.Test != c.Test {
			continue // a subtest's, or another's
		}
		if seen[m.Event] == nil {
			seen[m.Event] = m
		}
	}

	switch {
	case r.Gone:
		c.Status = verdict.Failed
		c.Expected = "the files of the check to be left alone"
		c.Actual = "they were removed while the checks ran: does the code remove its own folder?"
		c.Message = c.Actual
	case seen[channel.NotStarted] != nil:
		c.Status = verdict.NotStarted
		m := seen[channel.NotStarted]
		if m.Step != "" && m.Step != c.Step {
			c.Message = fmt.Sprintf("it builds on step %s, which is still a TODO", m.Step)
		}
		p.place(c, m.Failure)
	case seen[channel.Error] != nil:
		c.Status = verdict.Error
		c.Message = "the testbed could not do its own work, so this says nothing about your code"
		if f := seen[channel.Error].Failure; f != nil {
			c.Message += ": " + firstOf(f.Message, f.Seen)
		}
	case r.TimedOut:
		c.Status = verdict.Failed
		c.Message = fmt.Sprintf("it had not ended after %s and was stopped", short(r.Limit))
		c.Frames = p.frames(afterPanic(r.Output))
		if f := failure(seen); f != nil {
			p.fill(c, f)
		} else {
			c.Expected = fmt.Sprintf("an end within %s", short(r.Limit))
			c.Actual = "it was still running"
			if len(c.Frames) > 0 {
				c.Actual += ", here:"
			}
		}
	case panicText(r.Output) != "" && r.Exit == 2: // what the Go runtime exits with
		c.Status = verdict.Failed
		c.Message = panicText(r.Output)
		c.Frames = p.frames(afterPanic(r.Output))
		c.Expected = "no panic"
		c.Actual = c.Message
		if strings.Contains(c.Message, "unexpected call to os.Exit(0)") {
			c.Expected = "the code to return, and the check to end by itself"
			c.Actual = "os.Exit(0) was called in the middle"
		}
	case seen[channel.Failed] != nil:
		c.Status = verdict.Failed
		p.fill(c, failure(seen))
		if c.Message == "" && c.Actual == "" {
			c.Message = said(r.Output)
		}
	case r.Unknown:
		c.Status = verdict.Failed
		c.Expected = "the check to end by itself"
		c.Actual = "its process was gone, and so was the one that watches over it: does the code kill other processes?"
		c.Message = c.Actual
	case r.Signal != 0:
		c.Status = verdict.Failed
		c.Message = fmt.Sprintf("its process was ended by a signal: %v", r.Signal)
		c.Expected, c.Actual = "the check to end by itself", c.Message
	case strings.Contains(r.Output, "WARNING: DATA RACE"):
		c.Status = verdict.Failed
		c.Message = "the race detector found a data race"
		c.Frames = p.frames(r.Output)
		c.Expected, c.Actual = "no two goroutines at one variable without a lock", c.Message
	case seen[channel.Skipped] != nil && r.Exit == 0:
		c.Status = verdict.Skipped
		if f := seen[channel.Skipped].Failure; f != nil {
			c.Message = firstOf(f.Message, f.Seen)
		}
	case r.Exit != 0 && seen[channel.Started] == nil && said(r.Output) == "":
		c.Status = verdict.Failed
		c.Expected = "the check to run"
		c.Actual = fmt.Sprintf("the process ended with exit code %d before the check began: is there an os.Exit in an init?", r.Exit)
		c.Message = c.Actual
	case r.Exit != 0 && said(r.Output) == "":
		c.Status = verdict.Failed
		c.Expected = "the code to return, and the check to end by itself"
		c.Actual = fmt.Sprintf("the process ended with exit code %d in the middle: is there an os.Exit or a log.Fatal?", r.Exit)
		c.Message = c.Actual
	case r.Exit != 0:
		c.Status = verdict.Failed
		c.Message = said(r.Output)
	case r.Flooded:
		c.Status = verdict.Failed
		c.Message = "the check's process reported far more than a check does"
	case seen[channel.Passed] != nil:
		c.Status = verdict.Passed
	case seen[channel.Started] == nil:
		c.Status = verdict.Failed
		c.Expected = "the check to run and to report how it ended"
		c.Actual = "the process ended with exit code 0 before the check began: is there an os.Exit in an init?"
		c.Message = c.Actual
	default:
		c.Status = verdict.Failed
		c.Expected = "the check to run to its end and to report how it ended"
		c.Actual = "the process ended with exit code 0 in the middle: is there an os.Exit?"
		c.Message = c.Actual
	}
}

func failure(seen map[string]*channel.Message) *channel.Failure {
	if m := seen[channel.Failed]; m != nil {
		return m.Failure
	}
	return nil
}

func (p places) fill(c *verdict.Check, f *channel.Failure) {
	if f == nil {
		return
	}
	c.Expected, c.Actual, c.See, c.Message = f.Expected, f.Seen, f.See, f.Message
	p.place(c, f)
}

// place notes the line of the answer that a report names.
func (p places) place(c *verdict.Check, f *channel.Failure) {
	if f == nil || f.File == "" {
		return
	}
	if shown, check, ok := p.own(f.File); ok && !check {
		c.Where = &verdict.Place{File: shown, Line: f.Line}
	}
}

// explain adds where to look: the line of the answer, and the lesson's part.
func (p places) explain(c *verdict.Check) {
	if c.Status == verdict.Passed || c.Status == verdict.Error {
		return
	}
	if c.Where == nil && len(c.Frames) > 0 {
		c.Where = &c.Frames[0]
	}
	for _, find := range []func(dir, step string) (string, int, bool){p.chapter.FindTODO, p.chapter.StepFunc} {
		if c.Where != nil {
			break
		}
		if rel, line, ok := find(p.staged.Dir, c.Step); ok {
			if shown, ok := p.staged.Origin(rel); ok {
				c.Where = &verdict.Place{File: shown, Line: line}
			}
		}
	}
	file, heading, ok := p.chapter.FindHeading(c.See)
	if c.See == "" || !ok {
		file, heading, ok = p.chapter.StepHeading(c.Step)
	}
	if ok {
		c.SeeAt = verdict.Place{File: p.course.Rel(file), Line: heading.Line}
		c.SeeTitle = heading.Text
	}
}

// said is what a check printed, without what the test binary adds. At most
// fifteen lines.
func said(output string) string {
	var kept []string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, " \r\n")
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed == "FAIL" || trimmed == "PASS" || strings.HasPrefix(trimmed, "--- ") || strings.HasPrefix(trimmed, "=== ") ||
			strings.HasPrefix(trimmed, "exit status") || strings.HasPrefix(trimmed, "testing: warning: no tests to run") {
			continue
		}
		kept = append(kept, cutLine(strings.TrimPrefix(line, "    ")))
		if len(kept) == 15 {
			kept = append(kept, "…")
			break
		}
	}
	return strings.Join(kept, "\n")
}

// printed is what came before the test's own report: what the answer printed to
// find out what it does. Its last ten lines.
func printed(output string) string {
	var lines []string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") ||
			line == "PASS" || line == "FAIL" || strings.HasPrefix(line, "testing: warning: ") {
			break
		}
		if lines = append(lines, cutLine(line)); len(lines) > 11 {
			lines = append([]string{"…"}, lines[len(lines)-10:]...)
		}
	}
	return strings.Join(lines, "\n")
}

// maxLine is how much of a line that a check printed is shown, in characters.
const maxLine = 200

func cutLine(line string) string {
	if r := []rune(line); len(r) > maxLine {
		return string(r[:maxLine]) + "…"
	}
	return line
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return "no reason given"
}

func short(d time.Duration) string {
	s := d.Round(100 * time.Millisecond).String()
	s = strings.TrimSuffix(s, "m0s")
	if s != d.Round(100*time.Millisecond).String() {
		s += "m"
	}
	return s
}
