// Package progress keeps what the runner has to remember about a learner, in
// one plain text file.
//
// The file is replaced by a rename under a lock, so that neither a kill nor a
// second terminal loses anything. It may be edited by hand: a line that is not
// understood is told and kept.
package progress

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/verdict"
)

const head = `# What lab remembers about your way through the course. One fact a line:
#   solution CHAPTER            you chose to see this chapter's solution
#   hints CHAPTER CHECK N       you were shown the first N hints of this check
#   run CHAPTER TIME FILES      your last run that compiled; FILES stands for how
#                               your files were then
#   check CHAPTER CHECK STATUS  how this check ended in it
# Delete a line, or the file, and lab forgets. Lines it does not know it keeps.
`

// maxSize is where a file is no longer one of ours, in bytes. A fact takes sixty;
// a course of twenty chapters has three hundred.
const maxSize = 4 << 20

// State is what is remembered.
type State struct {
	path  string
	lines []line
}

// line is a fact as it stands in the file, and its words.
type line struct {
	number int // 1-based; 0 = new
	text   string
	words  []string
	bad    bool
}

// Load reads the state kept in home. None yet is an empty one.
func Load(home string) (*State, error) {
	s := &State{path: filepath.Join(home, "progress")}
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	var data []byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular(), info.Size() > maxSize:
		return nil, hint.New("move it away, and lab begins a new one", "%s is not what lab wrote there", s.path)
	default:
		data, err = os.ReadFile(s.path)
	}
	if err != nil {
		return nil, fmt.Errorf("read what lab remembers: %w", err)
	}
	n := 0
	for text := range strings.Lines(string(data)) {
		n++
		text = strings.TrimRight(text, "\r\n")
		if trimmed := strings.TrimSpace(text); trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		l := parse(text)
		l.number = n
		s.lines = append(s.lines, l)
	}
	return s, nil
}

// parse reads a line. One whose first word is not known belongs to a later lab.
func parse(text string) line {
	l := line{text: text, words: strings.Fields(text)}
	switch w := l.words; w[0] {
	case "solution":
		l.bad = len(w) < 2
	case "hints":
		l.bad = len(w) < 4 || number(w[3]) < 0
	case "run":
		l.bad = len(w) < 4
		if !l.bad {
			_, err := time.Parse(time.RFC3339, w[2])
			l.bad = err != nil
		}
	case "check":
		l.bad = len(w) < 4 || !slices.Contains(statuses, verdict.Status(w[3]))
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
		l.bad = true
	}
	return l
}

var statuses = []verdict.Status{verdict.Passed, verdict.Failed, verdict.NotStarted, verdict.Blocked, verdict.Skipped, verdict.Error}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// Damaged says which lines of the file were not understood, as "FILE:LINE: TEXT".
// They are kept.
func (s *State) Damaged() []string {
	var bad []string
	for _, l := range s.lines {
		if l.bad {
			bad = append(bad, fmt.Sprintf("%s:%d: %.80q", s.path, l.number, l.text))
		}
	}
	return bad
}

// SolutionSeen says whether the learner chose to see a chapter's solution.
func (s *State) SolutionSeen(chapter string) bool { return s.get("solution", chapter) != nil }

// SetSolutionSeen remembers it.
func (s *State) SetSolutionSeen(chapter string) { s.set("solution", chapter) }

// Hints is how many hints of a check were shown.
func (s *State) Hints(chapter, test string) int {
	if w := s.get("hints", chapter, test); w != nil {
		return number(w[3])
	}
	return 0
}

// SetHints remembers that n hints of a check were shown.
func (s *State) SetHints(chapter, test string, n int) {
	s.drop("hints", chapter, test)
	s.set("hints", chapter, test, strconv.Itoa(n))
}

// Run is what a learner's last run of a chapter said.
type Run struct {
	At     time.Time
	Digest string // of the files that ran
	// Checks is how each check ended. One that is not in it did not exist then.
	Checks map[string]verdict.Status
}

// LastRun is the last run of a chapter that compiled; false if there was none.
func (s *State) LastRun(chapter string) (Run, bool) {
	w := s.get("run", chapter)
	if w == nil {
		return Run{}, false
	}
	r := Run{Digest: w[3], Checks: map[string]verdict.Status{}}
	r.At, _ = time.Parse(time.RFC3339, w[2]) // parse has looked
	for _, l := range s.lines {
		if !l.bad && l.words[0] == "check" && l.words[1] == chapter {
			r.Checks[l.words[2]] = verdict.Status(l.words[3])
		}
	}
	return r, true
}

// SetRun remembers a run, in the place of the chapter's last.
func (s *State) SetRun(r *verdict.Result, at time.Time) {
	s.drop("run", r.Chapter)
	s.drop("check", r.Chapter)
	s.set("run", r.Chapter, at.UTC().Format(time.RFC3339), r.Digest)
	for _, c := range r.Checks {
		s.set("check", r.Chapter, c.Test, string(c.Status))
	}
}

// Forget drops the runs and the hints of a chapter that is begun again.
func (s *State) Forget(chapter string) {
	for _, fact := range []string{"run", "check", "hints"} {
		s.drop(fact, chapter)
	}
}

// get is the last line that begins with these words; nil if there is none. A
// file that was edited by hand may have several.
func (s *State) get(words ...string) []string {
	for _, l := range slices.Backward(s.lines) {
		if l.begins(words) {
			return l.words
		}
	}
	return nil
}

func (s *State) set(words ...string) {
	if s.get(words...) == nil {
		s.lines = append(s.lines, parse(strings.Join(words, " ")))
	}
}

func (s *State) drop(words ...string) {
	s.lines = slices.DeleteFunc(s.lines, func(l line) bool { return l.begins(words) })
}

func (l line) begins(words []string) bool {
	return !l.bad && len(l.words) >= len(words) && slices.Equal(l.words[:len(words)], words)
}
