package lessons

import (
	"fmt"
	"regexp"
	"strings"
)

// elision, alone in a line of output, stands for any number of lines.
const elision = "…"

var (
	directive = regexp.MustCompile(`^<!-- (run|not run): (.*\S) -->$`)
	fence     = "```"
)

// block is a fenced console block of a lesson.
type block struct {
	start, end int // the first line after the opening fence, the closing fence; from 0
	commands   []command
}

// command is one command of a block with what it is said to print.
type command struct {
	shown  string // after "$ "; "" where the block shows the output alone
	run    string // the same, or what the directive says
	output []string
}

// blocks returns the console blocks of a text that are to be run.
func blocks(lines []string) ([]block, error) {
	var found []block
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], fence) {
			continue
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(lines[end], fence) {
			end++
		}
		if end == len(lines) {
			return nil, fmt.Errorf("line %d: the block is never closed", i+1)
		}
		b := block{start: i + 1, end: end}
		at := i
		i = end
		if lines[at] != fence+"console" {
			continue
		}
		kind, text := before(lines, at)
		if kind == "not run" {
			continue
		}
		if kind == "run" && (b.start == end || !strings.HasPrefix(lines[b.start], "$ ")) {
			// The text around it says what was typed.
			b.commands = []command{{run: text, output: lines[b.start:end]}}
			found = append(found, b)
			continue
		}
		for _, line := range lines[b.start:end] {
			if shown, ok := strings.CutPrefix(line, "$ "); ok {
				b.commands = append(b.commands, command{shown: shown, run: shown})
				continue
			}
			if len(b.commands) == 0 {
				return nil, fmt.Errorf("line %d: a console block begins with \"$ COMMAND\"", b.start+1)
			}
			last := &b.commands[len(b.commands)-1]
			last.output = append(last.output, line)
		}
		if len(b.commands) == 0 {
			return nil, fmt.Errorf("line %d: a console block begins with \"$ COMMAND\"", b.start+1)
		}
		if kind == "run" {
			if len(b.commands) > 1 {
				return nil, fmt.Errorf("line %d: <!-- run: … --> is for one command, and %d are shown", at+1, len(b.commands))
			}
			b.commands[0].run = text
		}
		found = append(found, b)
	}
	return found, nil
}

// before returns the directive above the fence, blank lines between them or not.
func before(lines []string, fence int) (kind, text string) {
	for j := fence - 1; j >= 0; j-- {
		line := strings.TrimSpace(lines[j])
		if line == "" {
			continue
		}
		if m := directive.FindStringSubmatch(line); m != nil {
			return m[1], m[2]
		}
		break
	}
	return "", ""
}

// same says whether the output is what the lesson shows, apart from what differs
// from run to run, and from lines that the lesson leaves out with an elision.
func same(shown, got []string) bool {
	shown, got = masked(shown), masked(got)
	// The usual match of a pattern with stars, a line for a letter.
	s, g, star, mark := 0, 0, -1, 0
	for g < len(got) {
		switch {
		case s < len(shown) && shown[s] == elision:
			star, mark = s, g
			s++
		case s < len(shown) && shown[s] == got[g]:
			s++
			g++
		case star >= 0:
			mark++
			s, g = star+1, mark
		default:
			return false
		}
	}
	for s < len(shown) && shown[s] == elision {
		s++
	}
	return s == len(shown)
}
