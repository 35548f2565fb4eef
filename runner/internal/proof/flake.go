package proof

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/judge"
	"github.com/controllings/controllings/runner/internal/report"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// FlakeOptions say how often, and how hard, verdicts are tried.
type FlakeOptions struct {
	Options
	// Runs of each answer; 0 = 25.
	Runs int
	// Idle leaves the cores alone; as a rule all are kept busy meanwhile.
	Idle bool
	// Answers to run; empty = stub, solution, alternatives and mistakes.
	Answers []answer.Name
	// Each is called with what came of an answer.
	Each func(*course.Chapter, Repeated)
}

// Repeated is how an answer fared over many runs.
type Repeated struct {
	Answer string `json:"answer"`
	Runs   int    `json:"runs"`
	// Wrong are the runs whose verdict was not the one it should have been.
	Wrong []Wrong `json:"wrong"`
	// Median and Slowest are seconds a run, without laying out and compiling.
	Median  float64 `json:"median_seconds"`
	Slowest float64 `json:"slowest_seconds"`
}

// Wrong is one wrong verdict.
type Wrong struct {
	Run int    `json:"run"` // from 1
	Why string `json:"why"`
}

// FlakeReport is what `lab flake --json` prints.
type FlakeReport struct {
	Version  int             `json:"version"`
	OK       bool            `json:"ok"`
	Cluster  verdict.Cluster `json:"cluster"`
	Busy     bool            `json:"busy"` // every core was kept busy
	Runs     int             `json:"runs"` // of all answers together
	Wrong    int             `json:"wrong"`
	Chapters []FlakeChapter  `json:"chapters"`
}

// FlakeChapter is a chapter's part of it.
type FlakeChapter struct {
	Chapter string     `json:"chapter"`
	Answers []Repeated `json:"answers"`
}

const flakeRuns = 25

// Flake judges every answer many times, with all cores busy and time limits as
// they are, and finds the verdicts that change. Nothing is tried again: one wrong
// verdict is one too many.
func Flake(ctx context.Context, o FlakeOptions) (*FlakeReport, error) {
	if o.Runs <= 0 {
		o.Runs = flakeRuns
	}
	r := &FlakeReport{Version: 1, Busy: !o.Idle, Chapters: []FlakeChapter{}}
	info, err := o.Cluster.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	r.Cluster = info
	o.Cluster.Up = func(context.Context) (verdict.Cluster, error) { return info, nil } // it is
	for _, ch := range o.Chapters {
		answers, err := o.answers(ch)
		if err != nil {
			return nil, err
		}
		fc := FlakeChapter{Chapter: ch.ID, Answers: []Repeated{}}
		for _, n := range answers {
			if o.Status != nil {
				o.Status(fmt.Sprintf("%s %s", ch.ID, n))
			}
			a, err := o.repeat(ctx, ch, n)
			if err != nil {
				return nil, err
			}
			if o.Each != nil {
				o.Each(ch, a)
			}
			fc.Answers = append(fc.Answers, a)
			r.Runs += a.Runs
			r.Wrong += len(a.Wrong)
		}
		r.Chapters = append(r.Chapters, fc)
	}
	r.OK = r.Wrong == 0 && r.Runs > 0
	return r, nil
}

// answers are those whose verdict is known beforehand.
func (o FlakeOptions) answers(ch *course.Chapter) ([]answer.Name, error) {
	if len(o.Answers) > 0 {
		return o.Answers, nil
	}
	all := []answer.Name{{Kind: answer.Solution}, {Kind: answer.Stub}}
	for _, kind := range []answer.Kind{answer.Alternative, answer.Mistake} {
		more, err := answer.Patches(ch, kind)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

func (o FlakeOptions) repeat(ctx context.Context, ch *course.Chapter, n answer.Name) (Repeated, error) {
	jo := judge.Options{Course: o.Course, Chapter: ch, Answer: n, Cluster: o.Cluster, Factor: 1, Status: o.Status}
	wrong := wanting
	switch n.Kind {
	case answer.Stub:
		wrong = begun
	case answer.Mistake:
		p, err := o.mistake(ch, n)
		if err != nil {
			return Repeated{}, err
		}
		jo.Only = []string{p.RejectedBy}
		wrong = func(r *verdict.Result) string { return accepted(r, p) }
	}
	if !o.Idle {
		defer load()()
	}
	out := Repeated{Answer: n.String(), Wrong: []Wrong{}}
	var took []float64
	start := time.Now()
	err := judge.Repeat(ctx, jo, func(r *verdict.Result) bool {
		out.Runs++
		if out.Runs > 1 { // the first one's time holds the compiler's
			took = append(took, time.Since(start).Seconds())
		}
		start = time.Now()
		if why := wrong(r); why != "" {
			out.Wrong = append(out.Wrong, Wrong{Run: out.Runs, Why: why})
		}
		return out.Runs < o.Runs && r.Build == nil
	})
	if len(took) > 0 {
		slices.Sort(took)
		out.Median, out.Slowest = took[len(took)/2], took[len(took)-1]
	}
	return out, err
}

// Text shows the answer's line.
func (a Repeated) Text(w io.Writer, s report.Style) {
	mark := s.Green("✓")
	if len(a.Wrong) > 0 {
		mark = s.Red("✗")
	}
	fmt.Fprintf(w, "  %s %-40s %d runs, %d wrong", mark, a.Answer, a.Runs, len(a.Wrong))
	if a.Median > 0 {
		fmt.Fprintf(w, "   median %.1f s, slowest %.1f s", a.Median, a.Slowest)
	}
	fmt.Fprintln(w)
	for _, wrong := range a.Wrong {
		fmt.Fprintf(w, "      run %d: %s\n", wrong.Run, wrong.Why)
	}
}

// Exit is the exit code that says how it went.
func (r *FlakeReport) Exit() int {
	if r.OK {
		return verdict.ExitPassed
	}
	return verdict.ExitFailed
}
