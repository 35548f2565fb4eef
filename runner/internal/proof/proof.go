// Package proof shows that a chapter's checks can be trusted: the untouched
// stubs are not started, the solution and every alternative pass, and every
// mistake is rejected by the check that is about it, in the words it promises.
package proof

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/judge"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// Options say what to prove, and on what.
type Options struct {
	Course   *course.Course
	Chapters []*course.Chapter
	Cluster  judge.Cluster
	// Short leaves out alternatives, mistakes and the race detector.
	Short bool
	// Status gets a line for each answer that is being judged.
	Status func(string)
}

// The rules of a complete chapter.
const (
	wantMistakes     = 8
	wantAlternatives = 2
	wantHints        = 3
)

// Report is what `lab verify --json` prints.
type Report struct {
	Version      int             `json:"version"`
	OK           bool            `json:"ok"`
	Short        bool            `json:"short,omitempty"` // stubs and solutions alone
	Cluster      verdict.Cluster `json:"cluster"`
	Race         bool            `json:"race"` // the solutions ran with the race detector
	Mistakes     int             `json:"mistakes"`
	Rejected     int             `json:"rejected"`
	Alternatives int             `json:"alternatives"`
	Accepted     int             `json:"accepted"`
	Chapters     []*Chapter      `json:"chapters"`
}

// Chapter is the proof of one.
type Chapter struct {
	Chapter  string `json:"chapter"`
	OK       bool   `json:"ok"`
	Complete bool   `json:"complete"` // it claims to be
	// Problems are what is wrong with the chapter's files.
	Problems []string `json:"problems"`
	// Missing is what a complete chapter has and this one has not yet.
	Missing []string `json:"missing"`
	// Omitted counts the bank entries that mistakes/OMITTED.md leaves out.
	Omitted      int       `json:"omitted"`
	Stub         Outcome   `json:"stub"`
	Solution     Outcome   `json:"solution"`
	Alternatives []Outcome `json:"alternatives"`
	Mistakes     []Outcome `json:"mistakes"`
}

// Outcome is how an answer fared.
type Outcome struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Outcome is the chapter's status; of a mistake, its check's.
	Outcome verdict.Status `json:"outcome"`
	// RejectedBy is the check that rejected a mistake, "" if it did not.
	RejectedBy string `json:"rejected_by,omitempty"`
	Race       bool   `json:"race,omitempty"`
	// Why says what does not hold.
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Verify proves the chapters. An error means that nothing could be proved.
func Verify(ctx context.Context, o Options) (*Report, error) {
	r := &Report{Version: 1, OK: true, Short: o.Short, Race: !o.Short && hasCC(ctx), Chapters: []*Chapter{}}
	info, err := o.Cluster.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	r.Cluster = info
	o.Cluster.Up = func(context.Context) (verdict.Cluster, error) { return info, nil } // it is
	for _, ch := range o.Chapters {
		c, err := o.chapter(ctx, ch, r.Race)
		if err != nil {
			return nil, err
		}
		r.Chapters = append(r.Chapters, c)
		r.OK = r.OK && c.OK
		r.Mistakes += len(c.Mistakes)
		r.Rejected += count(c.Mistakes) - untriedOf(c.Mistakes)
		r.Alternatives += len(c.Alternatives)
		r.Accepted += count(c.Alternatives)
	}
	return r, nil
}

func count(outcomes []Outcome) int {
	n := 0
	for _, o := range outcomes {
		if o.OK {
			n++
		}
	}
	return n
}

// untriedOf counts the mistakes whose check can't be run on this cluster.
func untriedOf(mistakes []Outcome) int {
	n := 0
	for _, o := range mistakes {
		if o.OK && o.RejectedBy == "" {
			n++
		}
	}
	return n
}

func (o Options) chapter(ctx context.Context, ch *course.Chapter, race bool) (*Chapter, error) {
	c := &Chapter{
		Chapter: ch.ID, Complete: ch.Complete,
		Problems: []string{}, Missing: []string{}, Alternatives: []Outcome{}, Mistakes: []Outcome{},
	}
	lint, err := Lint(ctx, o.Course, ch)
	if err != nil {
		return nil, err
	}
	c.Problems = append(c.Problems, lint.Problems...)
	c.Missing = append(c.Missing, lint.Missing...)
	c.Omitted = lint.Omitted

	if c.Stub, err = o.stub(ctx, ch); err != nil {
		return nil, err
	}
	if c.Solution, err = o.passes(ctx, ch, answer.Name{Kind: answer.Solution}, race); err != nil {
		return nil, err
	}
	if o.Short {
		c.OK = c.Stub.OK && c.Solution.OK && len(c.Problems) == 0
		return c, nil
	}
	var said []rejection
	if c.Alternatives, c.Mistakes, said, err = o.patches(ctx, ch); err != nil {
		return nil, err
	}
	c.Problems = append(c.Problems, overlaps(said)...)

	c.OK = c.Stub.OK && c.Solution.OK && count(c.Alternatives) == len(c.Alternatives) &&
		count(c.Mistakes) == len(c.Mistakes) && len(c.Problems) == 0 && (len(c.Missing) == 0 || !ch.Complete)
	return c, nil
}

// patches judges all alternatives and mistakes, as many at once as there are
// cores: each is mostly one link and one wait.
func (o Options) patches(ctx context.Context, ch *course.Chapter) (alternatives, mistakes []Outcome, said []rejection, err error) {
	alts, err := answer.Patches(ch, answer.Alternative)
	if err != nil {
		return nil, nil, nil, err
	}
	errs, err := answer.Patches(ch, answer.Mistake)
	if err != nil {
		return nil, nil, nil, err
	}
	alternatives, mistakes, said = make([]Outcome, len(alts)), make([]Outcome, len(errs)), make([]rejection, len(errs))

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	start := func(do func() error) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			if err := do(); err != nil {
				cancel(err)
			}
		})
	}
	for i, n := range alts {
		start(func() (err error) { alternatives[i], err = o.passes(ctx, ch, n, false); return err })
	}
	for i, n := range errs {
		start(func() (err error) { mistakes[i], said[i], err = o.rejected(ctx, ch, n); return err })
	}
	wg.Wait()
	return alternatives, mistakes, said, context.Cause(ctx)
}

func (o Options) judge(ctx context.Context, ch *course.Chapter, n answer.Name, race bool, only ...string) (*verdict.Result, error) {
	if o.Status != nil {
		o.Status(fmt.Sprintf("%s %s", ch.ID, n))
	}
	var status func(string)
	if len(only) == 0 {
		status = o.Status // the first to be compiled may take long
	}
	r, _, err := judge.Run(ctx, judge.Options{Course: o.Course, Chapter: ch, Answer: n, Cluster: o.Cluster, Only: only, Race: race, Status: status})
	if err != nil && ctx.Err() == nil && o.Cluster.Probe(ctx) == nil {
		// The cluster is well: it is this answer. The others are still judged.
		return &verdict.Result{Status: verdict.Error, Build: &verdict.Build{Lines: []string{err.Error()}}}, nil
	}
	return r, err
}

// stub proves that the untouched exercise compiles and that each of its checks
// reads as not started.
func (o Options) stub(ctx context.Context, ch *course.Chapter) (Outcome, error) {
	n := answer.Name{Kind: answer.Stub}
	r, err := o.judge(ctx, ch, n, false)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Name: n.String(), Outcome: r.Status, Seconds: r.Seconds, Why: begun(r)}
	out.OK = out.Why == ""
	return out, nil
}

// begun says why a result isn't that of the untouched exercise, or "".
func begun(r *verdict.Result) string {
	if why := unbuilt(r); why != "" {
		return why
	}
	for _, c := range r.Checks {
		if c.Status != verdict.NotStarted && !untried(c) {
			return fmt.Sprintf("%s is %s: %s", c.Test, c.Status, oneLine(text(c)))
		}
	}
	return ""
}

// passes proves that an answer passes every check, stretch ones too.
func (o Options) passes(ctx context.Context, ch *course.Chapter, n answer.Name, race bool) (Outcome, error) {
	r, err := o.judge(ctx, ch, n, race)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Name: name(n), Outcome: r.Status, Race: race, Seconds: r.Seconds, Why: wanting(r)}
	out.OK = out.Why == ""
	return out, nil
}

// wanting says why a result isn't that of a right answer, or "".
func wanting(r *verdict.Result) string {
	if why := unbuilt(r); why != "" {
		return why
	}
	for _, c := range r.Checks {
		if c.Status != verdict.Passed && !untried(c) {
			return fmt.Sprintf("%s is %s: %s", c.Test, c.Status, oneLine(text(c)))
		}
	}
	return ""
}

// untried reports whether a check was skipped since it needs what this cluster
// can't do: that proves nothing, and refutes nothing. A check that skips itself
// though the cluster has all that it needs is not trusted.
func untried(c verdict.Check) bool { return c.Status == verdict.Skipped && len(c.Lacks) > 0 }

// rejection is what a check said about a mistake.
type rejection struct {
	mistake, test, says, text string
}

// rejected proves that a mistake fails at the check that is about it, with the
// words promised. Only that check is run.
func (o Options) rejected(ctx context.Context, ch *course.Chapter, n answer.Name) (Outcome, rejection, error) {
	out := Outcome{Name: name(n), Outcome: verdict.Error}
	p, err := o.mistake(ch, n)
	if err != nil {
		out.Why = err.Error()
		return out, rejection{}, nil
	}
	r, err := o.judge(ctx, ch, n, false, p.RejectedBy)
	if err != nil {
		return out, rejection{}, err
	}
	out.Outcome, out.Seconds, out.Why = r.Status, r.Seconds, accepted(r, p)
	if r.Build != nil {
		return out, rejection{}, nil
	}
	c := r.Checks[0]
	out.Outcome, out.OK = c.Status, out.Why == ""
	if c.Status == verdict.Failed {
		out.RejectedBy = c.Test
	}
	return out, rejection{mistake: n.Of, test: c.Test, says: p.Says, text: text(c)}, nil
}

// mistake reads a mistake's patch, and proves that its head is whole.
func (o Options) mistake(ch *course.Chapter, n answer.Name) (*answer.Patch, error) {
	file := answer.PatchFile(ch, n)
	p, err := answer.ReadPatch(file, o.Course.Rel(file))
	if err != nil {
		return nil, err
	}
	if err := p.GoodHead(n); err != nil {
		return nil, err
	}
	if ch.Check(p.RejectedBy) == nil {
		return nil, fmt.Errorf("Rejected-By: names %s, which is no check of the chapter", p.RejectedBy)
	}
	return p, nil
}

// accepted says why a result of the one check that a mistake names isn't the
// rejection that its head promises, or "".
func accepted(r *verdict.Result, p *answer.Patch) string {
	if why := unbuilt(r); why != "" {
		return why
	}
	switch c := r.Checks[0]; {
	case untried(c):
		return ""
	case c.Status == verdict.Passed:
		return fmt.Sprintf("%s passed it", c.Test)
	case c.Status != verdict.Failed:
		return fmt.Sprintf("%s is %s: %s", c.Test, c.Status, oneLine(text(c)))
	case !says(text(c), p.Says):
		return fmt.Sprintf("%s rejected it without saying %q: %s", c.Test, p.Says, oneLine(text(c)))
	}
	return ""
}

// overlaps finds promised words that another check's message holds too: they
// do not show which check spoke.
func overlaps(said []rejection) []string {
	var found []string
	for _, a := range said {
		for _, b := range said {
			if a.says != "" && b.test != "" && a.test != b.test && says(b.text, a.says) {
				found = append(found, fmt.Sprintf("mistakes/%s: the words %q are also in what %s says about mistakes/%s", a.mistake, a.says, b.test, b.mistake))
			}
		}
	}
	return found
}

func name(n answer.Name) string {
	if n.Of != "" {
		return n.Of
	}
	return n.String()
}

func unbuilt(r *verdict.Result) string {
	if r.Build == nil {
		return ""
	}
	return "does not build: " + oneLine(strings.Join(r.Build.Lines, "; "))
}

func text(c verdict.Check) string {
	return strings.Join([]string{c.Expected, c.Actual, c.Message}, "\n")
}

// says looks for words, whatever lies between them as space.
func says(text, words string) bool {
	return strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(words), " "))
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}

// hasCC says whether there is the C compiler that the race detector needs.
func hasCC(ctx context.Context) bool {
	out, err := exec.CommandContext(ctx, "go", "env", "CC").Output()
	if err != nil {
		return false
	}
	cc := strings.Fields(string(out))
	if len(cc) == 0 {
		return false
	}
	_, err = exec.LookPath(cc[0])
	return err == nil
}
