package verdict

import "testing"

func TestGradeSettle(t *testing.T) {
	of := func(s Status) *Result { return &Result{Status: s, Score: 1, MaxScore: 2} }
	broken := "not finished"
	for name, c := range map[string]struct {
		chapters []*Result
		err      *string
		want     Status
		exit     int
	}{
		"all passed":               {[]*Result{of(Passed), of(Passed)}, nil, Passed, 0},
		"no chapters are no pass":  {nil, nil, Error, 2},
		"one failed":               {[]*Result{of(Passed), of(Failed)}, nil, Failed, 1},
		"one not started":          {[]*Result{of(Passed), of(NotStarted)}, nil, Failed, 1},
		"none started":             {[]*Result{of(NotStarted), of(NotStarted)}, nil, NotStarted, 1},
		"one skipped":              {[]*Result{of(Passed), of(Skipped)}, nil, Skipped, 2},
		"skipped and failed":       {[]*Result{of(Skipped), of(Failed)}, nil, Failed, 2},
		"an error outweighs":       {[]*Result{of(Failed), of(Error)}, nil, Error, 2},
		"not finished":             {[]*Result{of(Passed)}, &broken, Error, 2},
		"a word that nobody knows": {[]*Result{of(Passed), of("fine")}, nil, Error, 2},
		"an empty word":            {[]*Result{of("")}, nil, Error, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := &Grade{Chapters: c.chapters, Error: c.err}
			g.Settle()
			g.Settle() // again changes nothing
			if g.Status != c.want || g.Exit() != c.exit || g.Score != len(c.chapters) || g.MaxScore != 2*len(c.chapters) {
				t.Errorf("status %s, exit %d, score %d of %d; want %s, %d", g.Status, g.Exit(), g.Score, g.MaxScore, c.want, c.exit)
			}
		})
	}
}

func TestFirst(t *testing.T) {
	check := func(step string, s Status, stretch bool) Check { return Check{Step: step, Status: s, Stretch: stretch} }
	for want, checks := range map[string][]Check{
		"":  {check("1", Passed, false), check("2", Blocked, false), check("3", Passed, true)},
		"a": {check("1", Failed, false), check("a", Error, false)},
		"b": {check("1", NotStarted, false), check("b", Failed, false), check("3", Failed, false)},
		"c": {check("1", Failed, true), check("c", Skipped, false)},
		"d": {check("1", Passed, false), check("d", NotStarted, true)},
	} {
		got := First(checks)
		if (got == nil) != (want == "") || got != nil && got.Step != want {
			t.Errorf("got %v, want %q", got, want)
		}
	}
}
