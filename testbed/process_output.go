package testbed

import (
	"io"
	"os"
	"slices"
	"strings"
)

// Bounds of what is kept of a process's output, in bytes.
const (
	keepHead = 32 << 10
	keepTail = 96 << 10
)

// Output is what the process has printed so far, on standard output and error: the
// first 32 KiB and the last 96 KiB of it. What is between them is left out, and
// a line says how much.
func (p *Process) Output() string { return p.output.String() }

func (p *Process) keepOutput(r *os.File) {
	defer r.Close()
	_, _ = io.Copy(&p.output, r) // to the end of the last one who holds the other end
}

// What a failure shows of a process's output.
const (
	lastLines = 10
	maxLine   = 200 // characters
)

// processStates is what a failure shows of the bed's processes: how they are, and the last
// lines that they printed.
func (b *Bed) processStates() string {
	var all []string
	for _, p := range b.allProcesses() {
		printed := lastOf(p.Output())
		if len(printed) == 0 {
			all = append(all, p.String()+", and has printed nothing")
			continue
		}
		all = append(all, p.String()+", and printed:")
		for _, line := range printed {
			all = append(all, "  "+line)
		}
	}
	return strings.Join(all, "\n")
}

// lastOf is the last lines of a text, from the last one up.
func lastOf(text string) []string {
	var last []string
	for text = strings.TrimRight(text, "\r\n"); text != "" && len(last) < lastLines; {
		cut := strings.LastIndexByte(text, '\n')
		line := strings.TrimRight(text[cut+1:], "\r")
		if r := []rune(line); len(r) > maxLine {
			line = string(r[:maxLine]) + "…"
		}
		last = append(last, line)
		text = text[:max(cut, 0)]
	}
	if text != "" {
		last = append(last, "…")
	}
	slices.Reverse(last)
	return last
}
