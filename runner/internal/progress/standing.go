package progress

import (
	"time"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// Standing is where a learner stands in a chapter, as of the last run.
type Standing struct {
	Chapter *course.Chapter
	// Ran says that there was a run. Without one, every check is not started.
	Ran    bool
	At     time.Time
	Digest string // of the files that ran
	// Edited says that the files are others now. Standing does not know.
	Edited bool
	// Result holds the chapter's checks of today, each as it ended in that run. One
	// that is new since is not started.
	Result *verdict.Result
}

// Standing is where the learner stands in a chapter.
func (s *State) Standing(ch *course.Chapter) Standing {
	run, ran := s.LastRun(ch.ID)
	r := &verdict.Result{Version: 1, Chapter: ch.ID, Number: ch.Number, Title: ch.Title}
	for _, c := range ch.Checks {
		status, known := run.Checks[c.Test]
		if !known {
			status = verdict.NotStarted
		}
		r.Checks = append(r.Checks, verdict.Check{
			Test: c.Test, Step: c.Step, Title: c.Title, Stretch: c.Stretch, MaxScore: c.Points, Status: status,
		})
	}
	r.Settle()
	return Standing{Chapter: ch, Ran: ran, At: run.At, Digest: run.Digest, Result: r}
}

// Done says whether every required check passed.
func (s Standing) Done() bool { return s.Ran && s.Result.Status == verdict.Passed }

// Next is where to go on: in the first chapter that is begun and not done, else
// in the first that is not begun. It is nil if all are done.
func Next(all []Standing) *Standing {
	for i, s := range all {
		if s.Ran && !s.Done() {
			return &all[i]
		}
	}
	for i, s := range all {
		if !s.Ran {
			return &all[i]
		}
	}
	return nil
}
