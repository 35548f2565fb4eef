// Package judge compiles an answer with the course's checks once, runs each
// check in a process of its own, and turns what they report into verdicts.
//
// Verdicts fail closed. A check has passed only if the testbed said so over its
// own channel, its process exited 0, and it is on the chapter's list.
package judge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/lock"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// Options say what to judge.
type Options struct {
	Course  *course.Course
	Chapter *course.Chapter
	Answer  answer.Name
	Cluster Cluster

	Only []string // tests to run, and then all of them count; empty = all of the chapter
	Race bool     // with the race detector; needs a C compiler

	// Factor stretches every time limit; 0 = LAB_TIME_FACTOR, else 1.
	Factor float64
	// Jobs is how many checks run at once; 0 = the number of cores.
	Jobs int

	// Begin is called when the checks start, Done for each as soon as it and all
	// above it have ended, in the chapter's order, never two at a time.
	Begin func(*verdict.Result)
	Done  func(verdict.Check)
	// Status gets short lines on what takes long.
	Status func(string)
}

// Timings say where the time went.
type Timings struct {
	Stage, Compile, Cluster, First, Run, Total time.Duration
}

func (t Timings) String() string {
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	s := fmt.Sprintf("stage %v, compile %v, cluster %v, run %v, total %v", ms(t.Stage), ms(t.Compile), ms(t.Cluster), ms(t.Run), ms(t.Total))
	if t.First > 0 {
		s += fmt.Sprintf(", first verdict that is no pass after %v", ms(t.First))
	}
	return s
}

// Cluster is what the judge needs of one.
type Cluster struct {
	// Up makes the cluster serve, if it does not yet, and says what it is.
	Up func(context.Context) (verdict.Cluster, error)
	// Probe says whether the API server answers now.
	Probe func(context.Context) error
	// Kubeconfig is the admin's, a path.
	Kubeconfig string
	// Home is LAB_HOME; checks that must be alone on the cluster lock a file in it.
	Home string
	// Can is what it can do of course.Needs.
	Can []string
	// Control is the path of the file by which a check does that, or "".
	Control string
	// Restore puts the cluster back as it was before a check that had needs: what
	// it stopped is started. Not nil where Can is not empty.
	Restore func(context.Context) error
}

// checkTime is what a check may take, before its window and the factor.
const checkTime = 30 * time.Second

// Run judges an answer. An error means that nothing could be judged: the course,
// the machine or the cluster is at fault.
func Run(ctx context.Context, o Options) (*verdict.Result, Timings, error) {
	begin := time.Now()
	p, err := prepare(ctx, o)
	if err != nil {
		return nil, Timings{}, err
	}
	defer p.close()
	r, err := p.run(ctx, begin)
	return r, p.t, err
}

// Repeat judges one answer over and over: it is compiled once, and its checks are
// run anew each time. each gets every result; Repeat ends when it returns false.
func Repeat(ctx context.Context, o Options, each func(*verdict.Result) bool) error {
	p, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	defer p.close()
	for {
		r, err := p.run(ctx, time.Now())
		if err != nil {
			return err
		}
		if !each(r) {
			return nil
		}
	}
}

// prepared is an answer that is compiled, and a cluster that serves.
type prepared struct {
	o       Options
	staged  *answer.Staged
	binary  string
	build   *verdict.Build // not nil = there is no binary
	cluster verdict.Cluster
	t       Timings
}

// prepare lays an answer out, compiles it, and makes the cluster serve.
func prepare(ctx context.Context, o Options) (p *prepared, err error) {
	if o.Factor <= 0 {
		if o.Factor, err = factor(); err != nil {
			return nil, err
		}
	}
	if o.Jobs <= 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if _, err := newResult(o); err != nil {
		return nil, err // before anything is started
	}
	p = &prepared{o: o}

	clusterCtx, cancel := context.WithCancel(ctx)
	cluster, err := startCluster(clusterCtx, o)
	defer func() { // nothing goes on behind an early return
		cancel()
		_, _, _ = cluster()
	}()
	if err != nil {
		return nil, err
	}

	start := time.Now()
	if p.staged, err = answer.Stage(ctx, o.Course, o.Chapter, o.Answer); err != nil {
		return nil, err
	}
	defer func(staged *prepared) { // p is nil where an error is returned
		if err != nil {
			staged.close()
		}
	}(p)
	p.t.Stage = time.Since(start)

	start = time.Now()
	p.binary, p.build, err = compile(ctx, o, p.staged)
	p.t.Compile = time.Since(start)
	if err != nil {
		return nil, err
	}
	p.cluster, p.t.Cluster, err = cluster()
	return p, err
}

func (p *prepared) close() {
	if p.o.Race || (p.o.Answer.Kind != answer.Mine && p.o.Answer.Kind != answer.Solution) {
		// Only what is judged again and again is worth its tens of megabytes.
		binary := binaryPath(p.o, p.staged)
		_, _ = os.Remove(binary), os.Remove(programPath(binary))
	}
	p.staged.Close()
}

// run runs the checks once. begin is when the person began to wait.
func (p *prepared) run(ctx context.Context, begin time.Time) (*verdict.Result, error) {
	r, err := newResult(p.o)
	if err != nil {
		return nil, err
	}
	r.Cluster, r.Digest = p.cluster, p.staged.Digest
	if p.build != nil {
		r.Build = p.build
		for i := range r.Checks {
			r.Checks[i].Status = verdict.Blocked
		}
	}
	if p.o.Begin != nil {
		p.o.Begin(r)
	}
	if p.build == nil {
		start := time.Now()
		if p.t.First, err = runAll(ctx, p.o, p.staged, p.binary, r); err != nil {
			return nil, err
		}
		if p.t.First > 0 {
			p.t.First += start.Sub(begin)
		}
		p.t.Run = time.Since(start)
	}
	r.Settle()
	if p.build != nil {
		r.Status = verdict.Failed
	}
	p.t.Total = time.Since(begin)
	r.Seconds = seconds(p.t.Stage + p.t.Compile + p.t.Run) // not what the cluster took to come up
	return r, nil
}

// Unjudged is the result of a chapter before anything is known: each check an
// error, which is no pass.
func Unjudged(ch *course.Chapter, n answer.Name) *verdict.Result {
	r := &verdict.Result{Version: 1, Chapter: ch.ID, Number: ch.Number, Title: ch.Title, Answer: n.String()}
	for _, c := range ch.Checks {
		r.Checks = append(r.Checks, verdict.Check{
			Test: c.Test, Step: c.Step, Title: c.Title, Stretch: c.Stretch, MaxScore: c.Points,
			After: c.After, Status: verdict.Error,
		})
	}
	return r
}

func newResult(o Options) (*verdict.Result, error) {
	for _, test := range o.Only {
		if o.Chapter.Check(test) == nil {
			return nil, hint.New("chapter.yaml lists a chapter's checks", "chapter %s has no check %s", o.Chapter.ID, test)
		}
	}
	r := Unjudged(o.Chapter, o.Answer)
	if len(o.Only) > 0 {
		r.Checks = slices.DeleteFunc(r.Checks, func(c verdict.Check) bool { return !slices.Contains(o.Only, c.Test) })
		for i := range r.Checks {
			r.Checks[i].Stretch = false // it is what was asked for
		}
	}
	return r, nil
}

// startCluster makes the cluster serve and returns how to get what came of it.
// One that answers already is looked at while the answer compiles. One that has
// to be started, or built first, comes before: both want all cores, and a person
// can follow one progress line at a time. An error of that one is returned here.
func startCluster(ctx context.Context, o Options) (func() (verdict.Cluster, time.Duration, error), error) {
	var (
		info verdict.Cluster
		took time.Duration
		err  error
	)
	up := func() {
		start := time.Now()
		// Not while a check, of another terminal perhaps, is alone on the cluster:
		// it may have stopped the API server on purpose.
		unlock, lockErr := share(ctx, o.Cluster.Home, false)
		if lockErr != nil {
			err = lockErr
			return
		}
		defer unlock()
		if info, err = o.Cluster.Up(ctx); err != nil {
			err = fmt.Errorf("start the cluster: %w", err)
		}
		took = time.Since(start)
	}
	within, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if o.Cluster.Probe(within) != nil {
		up()
		return func() (verdict.Cluster, time.Duration, error) { return info, took, err }, err
	}
	done := make(chan struct{})
	go func() { defer close(done); up() }()
	return func() (verdict.Cluster, time.Duration, error) { <-done; return info, took, err }, nil
}

// runAll runs the checks: those that can share the cluster as many at once as
// there are cores, then those that can't, one by one. It returns when the first
// verdict that was no pass was known, from its own start; 0 if all passed.
func runAll(ctx context.Context, o Options, staged *answer.Staged, binary string, r *verdict.Result) (first time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	start := time.Now()
	declared, err := declaredTests(staged.Dir)
	if err != nil {
		return 0, err
	}

	checks := slices.Clone(r.Checks) // as listed; r.Checks changes below, under mu
	var (
		mu     sync.Mutex
		ended  = make([]bool, len(r.Checks))
		told   int
		failed error
	)
	finish := func(i int, c verdict.Check, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			if failed == nil {
				failed = err
			}
			cancel()
			return
		}
		if c.Status != verdict.Passed && first == 0 {
			first = time.Since(start)
		}
		r.Checks[i], ended[i] = c, true
		for told < len(ended) && ended[told] {
			r.Settle() // a check is blocked by those above it, which have all ended
			if o.Done != nil {
				o.Done(r.Checks[told])
			}
			told++
		}
	}
	judgeOne := func(i int) {
		c := checks[i]
		if !declared[c.Test] {
			c.Status = verdict.Error
			c.Message = fmt.Sprintf("the chapter lists the check %s, but none of its *_test.go files has it", c.Test)
			finish(i, c, nil)
			return
		}
		spec := o.Chapter.Check(c.Test)
		if c.Lacks = o.Cluster.lacks(spec); len(c.Lacks) > 0 {
			c.Status, c.Message = verdict.Skipped, cant(r.Cluster.Provider, c.Lacks)
			places{o.Course, o.Chapter, staged}.explain(&c)
			finish(i, c, nil)
			return
		}
		unlock, err := share(ctx, o.Cluster.Home, spec.Serial)
		if err != nil {
			finish(i, c, err)
			return
		}
		defer unlock()
		c, err = one(ctx, o, staged, binary, c, spec)
		finish(i, c, err)
	}

	var wg sync.WaitGroup
	slots := make(chan struct{}, o.Jobs)
	for i, c := range checks {
		if o.Chapter.Check(c.Test).Serial {
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			judgeOne(i)
		})
	}
	wg.Wait()
	for i, c := range checks {
		if ctx.Err() == nil && o.Chapter.Check(c.Test).Serial {
			judgeOne(i)
		}
	}
	if failed != nil {
		return first, failed
	}
	return first, ctx.Err()
}

// one runs one check and decides.
func one(ctx context.Context, o Options, staged *answer.Staged, binary string, c verdict.Check, spec *course.Check) (verdict.Check, error) {
	limit := time.Duration(float64(checkTime+spec.Window) * o.Factor)
	env := environment{Kubeconfig: o.Cluster.Kubeconfig, Home: o.Cluster.Home, Factor: o.Factor}
	if staged.HasProgram() {
		env.Program = programPath(binary)
	}
	if len(spec.Needs) > 0 {
		env.Control = o.Cluster.Control
	}
	run, err := runProcess(ctx, processOptions{Binary: binary, Dir: staged.Dir, Test: c.Test, Limit: limit, Env: env})
	var broken error
	if len(spec.Needs) > 0 {
		broken = putBack(ctx, o) // whatever became of the check
	}
	if err != nil {
		return c, err
	}
	p := places{o.Course, o.Chapter, staged}
	decide(&c, run, p)
	if broken != nil {
		c.Status = verdict.Error
		c.Message = fmt.Sprintf("the cluster could not be put back after this check, so this says nothing about your code: %v", broken)
	}
	if c.Status == verdict.Failed {
		// Only now: a check that passed has shown itself that the API answers.
		if err := probe(ctx, o); err != nil {
			if ctx.Err() != nil {
				return c, ctx.Err()
			}
			was := c.Message
			c = verdict.Check{Test: c.Test, Step: c.Step, Title: c.Title, Stretch: c.Stretch, MaxScore: c.MaxScore, After: c.After,
				Status: verdict.Error, Seconds: c.Seconds, Output: c.Output}
			c.Message = fmt.Sprintf("the cluster does not answer, so this says nothing about your code: %v", err)
			if was != "" {
				c.Actual = was
			}
		}
	}
	p.explain(&c)
	if c.Status == verdict.Failed && len(spec.Hints) > 0 {
		c.Hint = fmt.Sprintf("make hint-%d", o.Chapter.Number)
		if spec.Stretch || len(o.Only) > 0 { // by itself it is about the first step that is not done
			c.Hint += " STEP=" + c.Step
		}
	}
	return c, nil
}

// probe gives the API server two chances: it may be restarting.
func probe(ctx context.Context, o Options) error {
	var err error
	for range 2 {
		within, cancel := context.WithTimeout(ctx, time.Duration(5*o.Factor*float64(time.Second)))
		err = o.Cluster.Probe(within)
		cancel()
		if err == nil {
			return nil
		}
	}
	return err
}

// factor is LAB_TIME_FACTOR, or 1.
func factor() (float64, error) {
	text := os.Getenv("LAB_TIME_FACTOR")
	if text == "" {
		return 1, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0 && f <= 1000) {
		return 0, hint.New("a number that stretches every time limit: 1 as it is, 3 on a slow machine", "LAB_TIME_FACTOR=%q is no factor", text)
	}
	return f, nil
}

func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond)) / float64(time.Second)
}

// share takes the cluster for one check: together with others, or alone. The
// lock holds between terminals too; it waits for its turn.
func share(ctx context.Context, home string, alone bool) (unlock func(), err error) {
	path := filepath.Join(home, "cluster.lock")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("take the cluster: %w", err)
	}
	var held *os.File
	if alone {
		held, err = lock.Wait(ctx, path, nil)
	} else {
		held, err = lock.WaitShared(ctx, path)
	}
	if err != nil {
		return nil, fmt.Errorf("take the cluster: %w", err)
	}
	return func() { _ = held.Close() }, nil
}

// noGo says that there is no toolchain.
func noGo(err error) error {
	return hint.New("install Go 1.26 or newer from https://go.dev/dl and put its bin folder on PATH", "run go: %w", errors.Unwrap(err))
}
