package course

import (
	"strings"

	"github.com/controllings/controllings/runner/internal/hint"
)

// FindCheck is the chapter's check that a person named: by its step, "1.2", or by
// its test, "TestHello" or "hello".
func (ch *Chapter) FindCheck(name string) (*Check, error) {
	bare := func(s string) string { return strings.TrimPrefix(strings.ToLower(s), "test") }
	var steps, tests []string
	for i, c := range ch.Checks {
		if c.Step == name || (bare(name) != "" && bare(c.Test) == bare(name)) {
			return &ch.Checks[i], nil
		}
		steps, tests = append(steps, c.Step), append(tests, bare(c.Test))
	}
	next := "the steps are " + strings.Join(steps, ", ")
	if near := nearest(bare(name), tests); near != "" {
		for _, c := range ch.Checks {
			if bare(c.Test) == near {
				next = "did you mean " + c.Test + ", step " + c.Step + "? " + next
			}
		}
	}
	return nil, hint.New(next, "chapter %d has no step and no check %q", ch.Number, name)
}
