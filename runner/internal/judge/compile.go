package judge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// slowCompile is when a person is told what takes so long.
const slowCompile = 10 * time.Second

// compile builds the staged checks, and the answer's program where it has one. A
// nil build means it worked; an error, that the toolchain or the course is at
// fault rather than the answer.
func compile(ctx context.Context, o Options, staged *answer.Staged) (binary string, build *verdict.Build, err error) {
	if len(staged.Offences) > 0 {
		return "", reaching(staged), nil
	}
	binary = binaryPath(o, staged)
	// No debug information and no vet: both cost a second and serve nobody here.
	// What else is set must be as for bin/controlplane and go test: the libraries
	// are in Go's cache under their flags, and compiling them again costs minutes.
	flags := []string{"-buildvcs=false", "-ldflags=-s -w"}
	if o.Race {
		flags = append(flags, "-race")
	}
	build, err = goRun(ctx, o, staged, slices.Concat([]string{"test", "-c", "-vet=off"}, flags, []string{"-o", binary, "."}))
	if build == nil && err == nil && staged.HasProgram() {
		build, err = goRun(ctx, o, staged, slices.Concat([]string{"build"}, flags, []string{"-o", programPath(binary), "./" + answer.Program}))
	}
	if build != nil || err != nil {
		return "", build, err
	}
	return binary, nil, nil
}

// goRun runs the go command in the stage.
func goRun(ctx context.Context, o Options, staged *answer.Staged, args []string) (*verdict.Build, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = staged.Dir
	cmd.Env = goEnv(os.Environ(), o.Race)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ownGroup(cmd)
	cmd.Cancel = func() error { killGroup(cmd.Process.Pid); return nil }

	if o.Status != nil {
		text := "compiling (the first time takes a minute or two: all of the Kubernetes client; then it is seconds)"
		if o.Race {
			text = "compiling with the race detector (the first time takes some minutes)"
		}
		slow := time.AfterFunc(slowCompile, func() { o.Status(text) })
		defer slow.Stop()
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		return nil, nil
	case errors.Is(err, exec.ErrNotFound):
		return nil, noGo(err)
	case !errors.As(err, &exit):
		return nil, fmt.Errorf("run go: %w", err)
	}
	build, blame := readCompiler(out.String(), staged)
	if blame {
		return build, nil
	}
	h := ""
	switch text := out.String(); {
	case strings.Contains(text, "no space left on device"):
		h = fmt.Sprintf("free some space on the disk of %s, or on that of Go's build cache (go env GOCACHE)", staged.Dir)
	case strings.Contains(text, "dial tcp"), strings.Contains(text, "no such host"), strings.Contains(text, "connection refused"), strings.Contains(text, "module lookup disabled"):
		h = "the first build downloads Go modules: check the network and `go env GOPROXY`; later runs need none"
	case strings.Contains(text, "signal: killed"):
		h = "the machine ran out of memory: close something, or export GOMAXPROCS=1"
	case strings.Contains(text, "toolchain"), strings.Contains(text, "requires go >="):
		h = "the course needs the Go version that go.work names: https://go.dev/dl"
	}
	return nil, hint.New(h, "compile chapter %s: the toolchain failed, not your code:\n    %s", o.Chapter.ID, strings.Join(build.Lines, "\n    "))
}

// reaching says, in the place of the compiler, that an answer goes for what
// judges it.
func reaching(staged *answer.Staged) *verdict.Build {
	b := &verdict.Build{Refused: true, Advice: "an answer can't use what its checks are made of, nor unsafe: the chapter is about the API server, and the checks look at what arrives there"}
	for _, o := range staged.Offences {
		if b.First == nil {
			b.First = &verdict.Place{File: o.File, Line: o.Line}
		}
		b.Lines = append(b.Lines, fmt.Sprintf("%s:%d: not in an answer: %s", o.File, o.Line, o.What))
	}
	return b
}

func binaryPath(o Options, staged *answer.Staged) string {
	path := filepath.Join(staged.Dir, answer.Binary)
	if o.Race {
		path += ".race"
	}
	return path
}

// programPath is where the answer's program is built, beside the checks.
func programPath(binary string) string { return binary + ".manager" }

// goEnv is the environment of the go command: the user's caches and proxy, none
// of the user's flags, so that the build is the same for everybody.
func goEnv(env []string, race bool) []string {
	var kept []string
	for _, e := range env {
		switch name, _, _ := strings.Cut(e, "="); name {
		case "GOFLAGS", "GOWORK", "CGO_ENABLED", "GOOS", "GOARCH", "PWD":
		default:
			kept = append(kept, e)
		}
	}
	cgo := "0"
	if race {
		cgo = "1"
	}
	return append(kept, "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED="+cgo)
}

// maxLines is how much of the compiler's output is shown.
const maxLines = 20

var goPlace = regexp.MustCompile(`^(\S.*?\.go):(\d+)(?::(\d+))?:? `)

// readCompiler takes the compiler's lines, with the staged paths turned back
// into the real files. blame says that they are about the answer's own files,
// or about how it fits the checks.
func readCompiler(out string, staged *answer.Staged) (b *verdict.Build, blame bool) {
	b = &verdict.Build{}
	checks := false
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "FAIL") {
			continue
		}
		line = strings.ReplaceAll(line, staged.Dir+string(filepath.Separator), "")
		line = strings.TrimPrefix(line, "./")
		line = strings.TrimPrefix(line, "package "+staged.Module+"\n\timports ")
		if m := goPlace.FindStringSubmatch(line); m != nil {
			rel := filepath.ToSlash(filepath.Clean(m[1]))
			if origin, ok := staged.Origin(rel); ok {
				blame = true
				checks = checks || staged.IsCheck(rel)
				if b.First == nil {
					n, _ := strconv.Atoi(m[2])
					b.First = &verdict.Place{File: origin, Line: n}
				}
				file, note, _ := strings.Cut(origin, " (")
				line = file + line[len(m[1]):]
				if note != "" && b.Advice == "" {
					b.Advice = "lines are those of the solution " + strings.TrimSuffix(note, ")")
				}
			}
		} else if strings.HasPrefix(line, "found packages ") {
			blame = true
			line, _, _ = strings.Cut(line, " in ")
			b.Advice = "all Go files of the chapter's folder belong to one package: is one of yours from elsewhere?"
		}
		switch {
		case strings.Contains(line, "no required module provides package"), strings.Contains(line, "cannot find module providing package"):
			line, _, _ = strings.Cut(line, "; to add it")
			line = strings.TrimSuffix(line, ": import lookup disabled by -mod=readonly")
			b.Advice = "the chapter needs only what its go.mod names; the lesson says which packages"
		case strings.Contains(line, "go get "):
			continue
		}
		if len(b.Lines) == maxLines {
			b.Lines = append(b.Lines, "…")
		}
		if len(b.Lines) < maxLines {
			b.Lines = append(b.Lines, line)
		}
	}
	if checks && b.Advice == "" {
		b.Advice = "where a line is in a *_test.go, the check calls your code in the way the lesson says: keep the stub's names and signatures"
	}
	return b, blame
}

// declaredTests lists the tests that the staged *_test.go files really have.
func declaredTests(dir string) (map[string]bool, error) {
	found := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read the checks: %w", err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				found[fn.Name.Name] = true
			}
		}
	}
	return found, nil
}

func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
