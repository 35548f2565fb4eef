package proof

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// A check that this cluster can't run proves nothing and refutes nothing; one
// that skips itself for another reason holds up the proof.
func TestOnlyWhatTheClusterLacksMayBeSkipped(t *testing.T) {
	of := func(c verdict.Check) *verdict.Result {
		c.Test = "TestX"
		return &verdict.Result{Checks: []verdict.Check{c}}
	}
	lacking := of(verdict.Check{Status: verdict.Skipped, Lacks: []string{"restart"}})
	itself := of(verdict.Check{Status: verdict.Skipped, Message: "no mood"})
	p := &answer.Patch{RejectedBy: "TestX", Says: "words"}
	for name, why := range map[string]func(*verdict.Result) string{
		"stub":     begun,
		"solution": wanting,
		"mistake":  func(r *verdict.Result) string { return accepted(r, p) },
	} {
		assert.Empty(t, why(lacking), name)
		assert.Equal(t, "TestX is skipped: no mood", why(itself), name)
	}
}

func TestWhatWasNotTriedIsNotCountedAsRejected(t *testing.T) {
	mistakes := []Outcome{
		{Name: "a", OK: true, Outcome: verdict.Failed, RejectedBy: "TestX"},
		{Name: "b", OK: true, Outcome: verdict.Skipped},
		{Name: "c", Outcome: verdict.Passed, Why: "TestX passed it"},
	}
	assert.Equal(t, 1, untriedOf(mistakes))
	r := &Report{Chapters: []*Chapter{{Chapter: "01-x", Mistakes: mistakes}}}
	var out bytes.Buffer
	r.Text(&out, report.Style{})
	assert.Contains(t, out.String(), "2 of 3 rejected, each by its check in its words, or not to be tried on this cluster: 1\n")
}
