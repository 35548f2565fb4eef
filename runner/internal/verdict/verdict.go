// Package verdict holds the words a check can end with, and what is known
// about each: plain data that the judge fills in and the report prints.
package verdict

import "slices"

// Status is how a check, or a whole chapter, ended.
type Status string

const (
	// Passed: the testbed reported it, the process exited 0, and the check is
	// on the chapter's list. Nothing less.
	Passed Status = "passed"
	// Failed: the answer is wrong, or it panicked, exited or ran out of time.
	Failed Status = "failed"
	// NotStarted: the answer reached a step that is still a TODO.
	NotStarted Status = "not_started"
	// Blocked: another check, or the compiler, has to be satisfied first.
	Blocked Status = "blocked"
	// Skipped: this cluster can't do what the check needs.
	Skipped Status = "skipped"
	// Error: the course or the machine is at fault, not the answer.
	Error Status = "error"
)

// Exit codes of the commands that judge.
const (
	ExitPassed = 0
	ExitFailed = 1
	ExitError  = 2
	// ExitInterrupted is what a shell reports for Ctrl-C.
	ExitInterrupted = 130
)

// Place is a line of a file, the file as it is to be shown.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
}

// Check is one check and how it ended.
type Check struct {
	Test     string  `json:"test"`
	Step     string  `json:"step"`
	Title    string  `json:"title"`
	Stretch  bool    `json:"stretch,omitempty"`
	Status   Status  `json:"status"`
	Score    int     `json:"score"`
	MaxScore int     `json:"max_score"`
	Message  string  `json:"message"`
	Expected string  `json:"expected"`
	Actual   string  `json:"actual"`
	See      string  `json:"see"`
	Hint     string  `json:"hint"`
	Seconds  float64 `json:"seconds"`

	// Where is the line of the answer that the verdict is about, if known.
	Where *Place `json:"where,omitempty"`
	// Frames are the answer's own lines of a trace, innermost first.
	Frames []Place `json:"frames,omitempty"`
	// BlockedBy names the step that has to pass first.
	BlockedBy string `json:"blocked_by,omitempty"`

	// SeeTitle and SeeAt are See resolved: the heading, and file:line.
	SeeTitle string `json:"-"`
	SeeAt    Place  `json:"-"`
	// Lacks names what a skipped check needs and this cluster can't do.
	Lacks []string `json:"-"`
	// After lists the tests that have to pass first.
	After []string `json:"-"`
	// Output is what the check's process wrote, bounded; Printed, the last lines
	// of it that are the answer's.
	Output  string `json:"-"`
	Printed string `json:"-"`
}

// Cluster says what the checks ran against.
type Cluster struct {
	Provider   string `json:"provider"`
	Kubernetes string `json:"kubernetes"`
}

// Build is what the compiler said about an answer that does not compile.
type Build struct {
	// Refused says that the answer was not even compiled: Lines name what an
	// answer must not hold.
	Refused bool `json:"refused,omitempty"`
	// Lines are the compiler's, with the paths of the answer's own files.
	Lines []string `json:"lines"`
	// First is the first place it named.
	First *Place `json:"first,omitempty"`
	// Advice is one sentence on what the lines mean, or "".
	Advice string `json:"advice,omitempty"`
}

// Result is a chapter's verdict.
type Result struct {
	Version int     `json:"version"`
	Chapter string  `json:"chapter"`
	Cluster Cluster `json:"cluster"`
	Status  Status  `json:"status"`
	// Score is the points of the checks that passed; Bonus, that part of it which
	// stretch checks gave; MaxScore, what the required checks are worth. So a
	// bonus may lift Score above MaxScore.
	Score    int `json:"score"`
	Bonus    int `json:"bonus"`
	MaxScore int `json:"max_score"`
	// Error says why nothing could be judged, or is nil.
	Error  *string `json:"error"`
	Checks []Check `json:"checks"`

	// Digest names the state of the answer's files that was judged.
	Digest string `json:"-"`

	Number  int     `json:"-"`
	Title   string  `json:"-"`
	Answer  string  `json:"-"`
	Build   *Build  `json:"build,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Settle works out what follows from the checks: which failed ones another
// check blocks, the points, and the chapter's status. It may be called again.
func (r *Result) Settle() {
	r.Score, r.Bonus, r.MaxScore = 0, 0, 0
	for i := range r.Checks {
		c := &r.Checks[i]
		r.block(c)
		c.Score = 0
		if c.Status == Passed {
			c.Score = c.MaxScore
			r.Score += c.Score
		}
		if c.Stretch {
			r.Bonus += c.Score
		} else {
			r.MaxScore += c.MaxScore
		}
	}
	r.Status = r.status()
}

// block marks a failed check as blocked while one it builds on has not passed.
// It is a rule of display: a failure shown once is not shown again below it.
func (r *Result) block(c *Check) {
	if c.Status != Failed {
		return
	}
	for _, before := range r.Checks {
		if slices.Contains(c.After, before.Test) && before.Status != Passed && before.Status != Skipped {
			c.Status, c.BlockedBy = Blocked, before.Step
			return
		}
	}
}

// status is the worst that happened to a required check. An empty list is an
// error: a chapter that checks nothing has not been passed.
func (r *Result) status() Status {
	if r.Error != nil {
		return Error
	}
	seen := map[Status]int{}
	required := 0
	for _, c := range r.Checks {
		if !c.Stretch {
			seen[c.Status]++
			required++
		}
	}
	switch {
	case required == 0, seen[Error] > 0:
		return Error
	case seen[Passed] == required:
		return Passed
	case seen[NotStarted] == required:
		return NotStarted
	case seen[Failed]+seen[Blocked]+seen[NotStarted] > 0:
		return Failed
	case seen[Skipped] > 0:
		return Skipped
	default: // a word that nobody knows
		return Error
	}
}

// Exit is the exit code that says how the chapter ended.
func (r *Result) Exit() int {
	switch r.Status {
	case Passed:
		return ExitPassed
	case Failed, NotStarted, Blocked:
		return ExitFailed
	default:
		return ExitError
	}
}

// Passed counts the required checks that passed, and all required ones.
func (r *Result) Passed() (done, all int) {
	for _, c := range r.Checks {
		if c.Stretch {
			continue
		}
		all++
		if c.Status == Passed {
			done++
		}
	}
	return done, all
}

// StretchPassed counts the stretch checks that passed, and all of them.
func (r *Result) StretchPassed() (done, all int) {
	for _, c := range r.Checks {
		if !c.Stretch {
			continue
		}
		all++
		if c.Status == Passed {
			done++
		}
	}
	return done, all
}
