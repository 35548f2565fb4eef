package judge

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// places turns the paths of a staged module back into the real files.
type places struct {
	course  *course.Course
	chapter *course.Chapter
	staged  *answer.Staged
}

// own maps a path as the compiler wrote it into the binary, in the staged
// module's folder, to the answer's or the course's file.
func (p places) own(file string) (shown string, check, ok bool) {
	rel, ok := p.staged.Rel(file)
	if !ok {
		return "", false, false
	}
	shown, ok = p.staged.Origin(rel)
	return shown, p.staged.IsCheck(rel), ok
}

var frameLine = regexp.MustCompile(`^\s+(\S.*\.go):(\d+)(?: \+0x[0-9a-f]+)?\s*$`)

// maxFrames is how many lines of a trace a person is shown.
const maxFrames = 5

// frames are the answer's own lines in the first trace of the output that has
// any, innermost first; the check's lines where there are none.
func (p places) frames(output string) []verdict.Place {
	var mine, checks []verdict.Place
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "goroutine ") || strings.TrimSpace(line) == "" {
			if len(mine) > 0 {
				break // the next goroutine's trace
			}
			continue
		}
		m := frameLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		shown, check, ok := p.own(m[1])
		if !ok {
			continue
		}
		n, _ := strconv.Atoi(m[2])
		at := verdict.Place{File: shown, Line: n}
		switch {
		case !check && !slices.Contains(mine, at):
			mine = append(mine, at)
		case check && !slices.Contains(checks, at):
			checks = append(checks, at)
		}
	}
	if len(mine) == 0 {
		mine = checks
	}
	return mine[:min(len(mine), maxFrames)]
}

// panicText is the first line of a crash in the output, as Go prints it.
func panicText(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		for _, prefix := range []string{"panic: ", "fatal error: ", "runtime: goroutine stack exceeds", "SIGSEGV"} {
			if strings.HasPrefix(line, prefix) {
				line, _, _ = strings.Cut(line, " [recovered")
				return line
			}
		}
	}
	return ""
}

// afterPanic is the output from the crash on: traces above it are not its.
func afterPanic(output string) string {
	text := panicText(output)
	if text == "" {
		return output
	}
	_, after, _ := strings.Cut(output, text)
	return after
}
