package judge

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/verdict"
	"github.com/controllings/controllings/todo/guard"
)

// benchTime is what one pass of a chapter's benchmarks may take, before the factor.
const benchTime = 20 * time.Minute

// Benchmark compiles an answer as it is judged, and runs the chapter's benchmarks
// passes times, each pass in a process of its own: a pass holds one measurement of
// every row, made within the same minutes. What the benchmarks print goes to each.
func Benchmark(ctx context.Context, o Options, passes int, each func(pass int, output io.Reader) error) (verdict.Cluster, error) {
	p, err := prepare(ctx, o)
	if err != nil {
		return verdict.Cluster{}, err
	}
	defer p.close()
	if p.build != nil {
		return p.cluster, fmt.Errorf("chapter %s (%s) does not compile:\n    %s", o.Chapter.ID, o.Answer, strings.Join(p.build.Lines, "\n    "))
	}
	for pass := range passes {
		if err := p.benchmark(ctx, func(output io.Reader) error { return each(pass, output) }); err != nil {
			return p.cluster, err
		}
	}
	return p.cluster, nil
}

// benchmark runs the benchmarks once, alone on the cluster.
func (p *prepared) benchmark(ctx context.Context, read func(io.Reader) error) error {
	unlock, err := share(ctx, p.o.Cluster.Home, true)
	if err != nil {
		return err
	}
	defer unlock()
	private, err := privateFolder("lab-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(private)
	said, theirs, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe for the benchmarks' output: %w", err)
	}
	defer said.Close()
	limit := time.Duration(float64(benchTime) * p.o.Factor)
	env := environment{Kubeconfig: p.o.Cluster.Kubeconfig, Home: p.o.Cluster.Home, Factor: p.o.Factor}
	process, err := guard.Start(guard.Options{
		Path: p.binary,
		Args: []string{"-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-test.benchmem=false", "-test.timeout=" + limit.String()},
		Dir:  p.staged.Dir, Env: env.list(os.Environ(), private), Output: theirs, Remove: private,
	})
	theirs.Close()
	if err != nil {
		return fmt.Errorf("start the benchmarks: %w", err)
	}
	defer process.Close()
	tail := &guard.Output{Head: keepHead, Tail: keepTail}
	done := make(chan error, 1)
	go func() { done <- read(io.TeeReader(said, tail)) }()
	select {
	case <-process.Ended():
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := <-done; err != nil {
		return err
	}
	if exit, known := process.Exit(); !known || exit.Code != 0 || exit.Signal != 0 {
		return hint.New("its own words are above; `lab cluster status` shows whether the cluster is well",
			"the benchmarks of chapter %s failed:\n%s", p.o.Chapter.ID, tail)
	}
	return nil
}
