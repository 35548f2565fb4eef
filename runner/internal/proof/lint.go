package proof

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
)

// Linted is what can be said of a chapter without running it.
type Linted struct {
	Problems []string // to be mended
	Missing  []string // what a complete chapter has besides
	Omitted  int      // bank entries that mistakes/OMITTED.md leaves out
}

type linter struct {
	Linted
	c     *course.Course
	ch    *course.Chapter
	tests map[string]*ast.FuncDecl
}

func (l *linter) problem(format string, args ...any) {
	l.Problems = append(l.Problems, fmt.Sprintf(format, args...))
}

func (l *linter) missing(format string, args ...any) {
	l.Missing = append(l.Missing, fmt.Sprintf(format, args...))
}

// Lint reads a chapter and its solution. An error means that it could not.
func Lint(ctx context.Context, c *course.Course, ch *course.Chapter) (Linted, error) {
	l := &linter{c: c, ch: ch, tests: map[string]*ast.FuncDecl{}}
	if err := l.readChecks(); err != nil {
		return l.Linted, err
	}
	l.hints()
	l.steps()
	stub, stubErr := answer.Load(ctx, c, ch, answer.Name{Kind: answer.Stub})
	if stubErr != nil {
		l.problem("stub: %v", stubErr)
	}
	solution, solErr := answer.Load(ctx, c, ch, answer.Name{Kind: answer.Solution})
	if solErr != nil {
		l.problem("solution: %v", solErr)
	}
	if stubErr == nil {
		l.todos(stub)
	}
	if solErr == nil {
		l.unfinished(solution)
	}
	if stubErr == nil && solErr == nil {
		for _, d := range differentAPI(stub, solution) {
			l.problem("stub and solution export different things: %s", d)
		}
	}
	if err := l.patches(); err != nil {
		return l.Linted, err
	}
	l.strays(ctx)
	slices.Sort(l.Problems) // maps have no order
	return l.Linted, nil
}

// readChecks compares the list with the tests that there are, and follows each
// address of the lesson that a check gives.
func (l *linter) readChecks() error {
	files, err := os.ReadDir(l.ch.Dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		path := filepath.Join(l.ch.Dir, f.Name())
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			l.problem("%s does not parse: %v", l.c.Rel(path), err)
			continue
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			l.tests[fn.Name.Name] = fn
			if fn.Name.Name != "TestMain" && l.ch.Check(fn.Name.Name) == nil {
				l.problem("%s has the test %s, which chapter.yaml does not list", l.c.Rel(path), fn.Name.Name)
			}
		}
		for _, s := range literals(parsed) {
			if !strings.HasPrefix(s, "README.md#") || strings.ContainsAny(s, " %") {
				continue
			}
			if _, _, ok := l.ch.FindHeading(s); !ok {
				l.problem("%s points to %s, and the lesson has no such heading", l.c.Rel(path), s)
			}
		}
	}
	for _, c := range l.ch.Checks {
		if l.tests[c.Test] == nil {
			l.problem("chapter.yaml lists %s, which no *_test.go has", c.Test)
		}
	}
	return nil
}

func (l *linter) hints() {
	for _, c := range l.ch.Checks {
		if len(c.Hints) == 0 {
			l.problem("check %s has no hint", c.Test)
		} else if len(c.Hints) < wantHints {
			l.missing("check %s has %s of %d hints", c.Test, strconv.Itoa(len(c.Hints)), wantHints)
		}
		for i, h := range c.Hints {
			switch {
			case h == "":
				l.problem("check %s: hint %d is empty", c.Test, i+1)
			case strings.Contains(h, "```"), strings.Contains(h, ":= "), strings.Contains(h, "func("):
				l.problem("check %s: hint %d gives code; a hint says what, never how it is written", c.Test, i+1)
			case slices.Index(c.Hints, h) < i:
				l.problem("check %s: hint %d stands twice", c.Test, i+1)
			}
		}
	}
}

func (l *linter) steps() {
	for _, c := range l.ch.Checks {
		if chapter, _, _ := strings.Cut(c.Step, "."); chapter != strconv.Itoa(l.ch.Number) {
			l.problem("check %s has step %s in chapter %d", c.Test, c.Step, l.ch.Number)
		}
		if _, _, ok := l.ch.StepHeading(c.Step); !ok {
			l.problem("the lesson has no heading for step %s", c.Step)
		}
	}
}

var (
	todoMark = regexp.MustCompile(`TODO\(([^)]*)\)`)
	todoCall = regexp.MustCompile(`todo\.Step\("([^"]*)"\)`)
)

// todos proves that the stubs say where each step is written, and no other.
func (l *linter) todos(stub answer.Files) {
	marked, called := map[string]bool{}, map[string]bool{}
	for name, f := range stub {
		for _, m := range todoMark.FindAllSubmatch(f.Data, -1) {
			marked[string(m[1])] = true
		}
		for _, m := range todoCall.FindAllSubmatch(f.Data, -1) {
			step := string(m[1])
			called[step] = true
			if !slices.ContainsFunc(l.ch.Checks, func(c course.Check) bool { return c.Step == step }) {
				l.problem("stub: %s calls todo.Step(%q), and no check has that step", name, step)
			}
		}
	}
	for _, c := range l.ch.Checks {
		if !marked[c.Step] {
			l.problem("stub: no TODO(%s), the step of %s", c.Step, c.Test)
		}
	}
	for step := range called {
		if !marked[step] {
			l.problem("stub: todo.Step(%q) without a TODO(%s) that says what to write", step, step)
		}
	}
}

func (l *linter) unfinished(solution answer.Files) {
	for name, f := range solution {
		if todoMark.Match(f.Data) || todoCall.Match(f.Data) {
			l.problem("solution: %s still has a TODO", name)
		}
	}
}

// patches reads every patch's head, and counts whom they are about.
func (l *linter) patches() error {
	aimed := map[string]int{}
	mistakes, err := answer.Patches(l.ch, answer.Mistake)
	if err != nil {
		return err
	}
	alternatives, err := answer.Patches(l.ch, answer.Alternative)
	if err != nil {
		return err
	}
	for _, n := range slices.Concat(mistakes, alternatives) {
		file := answer.PatchFile(l.ch, n)
		p, err := answer.ReadPatch(file, l.c.Rel(file))
		if err != nil {
			l.problem("%v", err)
			continue
		}
		if n.Kind == answer.Alternative {
			if err := p.GoodHead(n); err != nil {
				l.problem("%v", err)
			}
			continue
		}
		// A mistake's head is judged with it.
		aimed[p.RejectedBy]++
		for test, fn := range l.tests {
			if test == p.RejectedBy || p.Says == "" {
				continue
			}
			for _, s := range literals(fn) {
				if says(s, p.Says) {
					l.problem("%s: the words %q are also in %s", n, p.Says, test)
				}
			}
		}
	}
	for _, c := range l.ch.Checks {
		if aimed[c.Test] == 0 {
			l.missing("no mistake is rejected by %s", c.Test)
		}
	}
	if len(mistakes) < wantMistakes {
		l.missing("%d of at least %d mistakes", len(mistakes), wantMistakes)
	}
	if len(alternatives) < wantAlternatives {
		l.missing("%d of at least %d alternatives", len(alternatives), wantAlternatives)
	}
	l.omitted()
	return nil
}

// omitted counts the list items of mistakes/OMITTED.md.
func (l *linter) omitted() {
	data, err := os.ReadFile(filepath.Join(l.ch.Solution, "mistakes", "OMITTED.md"))
	if err != nil {
		return
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if t := lines.Text(); strings.HasPrefix(t, "- ") || strings.HasPrefix(t, "* ") {
			l.Omitted++
		}
	}
}

// literals are the texts in a piece of Go; a + b is one.
func literals(n ast.Node) []string {
	var found []string
	ast.Inspect(n, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		if s, ok := literal(e); ok {
			found = append(found, s)
			return false
		}
		return true
	})
	return found
}

func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			return s, err == nil
		}
	case *ast.ParenExpr:
		return literal(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			a, okA := literal(e.X)
			b, okB := literal(e.Y)
			return a + b, okA && okB
		}
	}
	return "", false
}
