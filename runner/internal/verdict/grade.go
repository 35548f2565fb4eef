package verdict

// Grade is the verdict on some chapters of one submission.
type Grade struct {
	Version int `json:"version"`
	// Status is the worst of the chapters': passed only if all of them are.
	Status Status `json:"status"`
	// Score, Bonus and MaxScore are the sums of the chapters'.
	Score    int `json:"score"`
	Bonus    int `json:"bonus"`
	MaxScore int `json:"max_score"`
	// Error says why the grade is not finished, or is nil.
	Error    *string   `json:"error"`
	Chapters []*Result `json:"chapters"`

	// Single says that one chapter was asked for: then the grade is shown as that
	// chapter's result alone.
	Single bool `json:"-"`
}

// Settle works out what follows from the chapters. It may be called again.
func (g *Grade) Settle() {
	g.Version, g.Score, g.Bonus, g.MaxScore = 1, 0, 0, 0
	for _, r := range g.Chapters {
		g.Score += r.Score
		g.Bonus += r.Bonus
		g.MaxScore += r.MaxScore
	}
	g.Status = g.status()
}

func (g *Grade) status() Status {
	if g.Error != nil || len(g.Chapters) == 0 {
		return Error
	}
	seen := map[Status]int{}
	for _, r := range g.Chapters {
		seen[r.Status]++
	}
	all := len(g.Chapters)
	switch wrong := seen[Failed] + seen[Blocked] + seen[NotStarted]; {
	case seen[Passed] == all:
		return Passed
	case seen[NotStarted] == all:
		return NotStarted
	case seen[Passed]+seen[Skipped]+wrong < all: // an error, or a word that nobody knows
		return Error
	case wrong > 0:
		return Failed
	default:
		return Skipped
	}
}

// Exit is the exit code that says how the grade ended: the worst chapter's.
func (g *Grade) Exit() int {
	code := ExitPassed
	if g.Error != nil || len(g.Chapters) == 0 {
		code = ExitError
	}
	for _, r := range g.Chapters {
		code = max(code, r.Exit())
	}
	return code
}

// First is the check to look at: what could not be judged before all, then what
// is wrong, then what is not written yet. A stretch check is looked at when no
// required one is left. nil says that there is none.
func First(checks []Check) *Check {
	for _, stretch := range []bool{false, true} {
		for _, s := range []Status{Error, Failed, NotStarted, Skipped} {
			for i := range checks {
				if c := &checks[i]; c.Status == s && c.Stretch == stretch {
					return c
				}
			}
		}
	}
	return nil
}
