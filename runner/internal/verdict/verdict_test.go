package verdict

import "testing"

func TestSettle(t *testing.T) {
	check := func(test string, s Status, after ...string) Check {
		return Check{Test: test, Step: "1." + test, Status: s, MaxScore: 2, After: after}
	}
	stretch := func(c Check) Check { c.Stretch = true; return c }
	broken := "staging failed"
	for name, c := range map[string]struct {
		checks []Check
		err    *string
		want   Status
		exit   int
		score  int
	}{
		"all passed":                          {[]Check{check("a", Passed), check("b", Passed)}, nil, Passed, 0, 4},
		"no checks at all are no pass":        {nil, nil, Error, 2, 0},
		"only stretch checks are no pass":     {[]Check{stretch(check("a", Passed))}, nil, Error, 2, 2},
		"a failed stretch check does no harm": {[]Check{check("a", Passed), stretch(check("b", Failed))}, nil, Passed, 0, 2},
		"one failed":                          {[]Check{check("a", Passed), check("b", Failed)}, nil, Failed, 1, 2},
		"one not started":                     {[]Check{check("a", Passed), check("b", NotStarted)}, nil, Failed, 1, 2},
		"none started":                        {[]Check{check("a", NotStarted), check("b", NotStarted)}, nil, NotStarted, 1, 0},
		"all blocked":                         {[]Check{check("a", Blocked)}, nil, Failed, 1, 0},
		"a skipped one is no pass":            {[]Check{check("a", Passed), check("b", Skipped)}, nil, Skipped, 2, 2},
		"an error outweighs a failure":        {[]Check{check("a", Failed), check("b", Error)}, nil, Error, 2, 0},
		"nothing could be judged":             {[]Check{check("a", Passed)}, &broken, Error, 2, 2},
		"a word that nobody knows":            {[]Check{check("a", Passed), check("b", "fine")}, nil, Error, 2, 2},
		"an empty word":                       {[]Check{check("a", "")}, nil, Error, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Result{Checks: c.checks, Error: c.err}
			r.Settle()
			r.Settle() // again changes nothing
			if r.Status != c.want || r.Exit() != c.exit || r.Score != c.score {
				t.Errorf("status %s, exit %d, score %d; want %s, %d, %d", r.Status, r.Exit(), r.Score, c.want, c.exit, c.score)
			}
		})
	}
}

func TestBlocked(t *testing.T) {
	for before, want := range map[Status]Status{
		Passed: Failed, Skipped: Failed, Failed: Blocked, NotStarted: Blocked, Error: Blocked, Blocked: Blocked,
	} {
		r := &Result{Checks: []Check{
			{Test: "A", Step: "1.1", Status: before},
			{Test: "B", Step: "1.2", Status: Failed, After: []string{"A"}},
			{Test: "C", Step: "1.3", Status: NotStarted, After: []string{"A"}},
			{Test: "D", Step: "1.4", Status: Passed, After: []string{"A"}},
		}}
		r.Settle()
		if got := r.Checks[1]; got.Status != want || (want == Blocked) != (got.BlockedBy == "1.1") {
			t.Errorf("after %s: %s by %q, want %s", before, got.Status, got.BlockedBy, want)
		}
		if r.Checks[2].Status != NotStarted || r.Checks[3].Status != Passed {
			t.Errorf("after %s: not started and passed must stay, got %s and %s", before, r.Checks[2].Status, r.Checks[3].Status)
		}
	}
}
