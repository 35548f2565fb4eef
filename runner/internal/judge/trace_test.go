package judge

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/answer"
	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/verdict"
)

// fixturePlaces is a staged chapter of one file and one check, never built.
func fixturePlaces(t *testing.T) places {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.work":                    "",
		"chapters/01-x/go.mod":       "module example.com/chapters/01-x\n\ngo 1.26.0\n",
		"chapters/01-x/x.go":         "package x\n",
		"chapters/01-x/x_test.go":    "package x_test\n",
		"chapters/01-x/sub/y.go":     "package sub\n",
		"chapters/01-x/chapter.yaml": "title: X\nminutes: 1\nfiles: [x.go]\nchecks: [{test: TestX, step: \"1.1\", title: x}]\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	c, err := course.Open(root, "", "")
	require.NoError(t, err)
	ch, err := c.Chapter("1")
	require.NoError(t, err)
	s, err := answer.Stage(context.Background(), c, ch, answer.Name{Kind: answer.Mine})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return places{c, ch, s}
}

func TestFrames(t *testing.T) {
	p := fixturePlaces(t)
	dir := p.staged.Dir
	trace := strings.ReplaceAll(`panic: boom

goroutine 7 [running]:
testing.tRunner.func1.2({0x5, 0x6})
	testing/testing.go:1872 +0x190
example.com/chapters/01-x.inner(...)
	example.com/chapters/01-x/x.go:9
example.com/chapters/01-x/sub.Y()
	example.com/chapters/01-x/sub/y.go:5 +0x12
example.com/chapters/01-x.inner(...)
	example.com/chapters/01-x/x.go:9
example.com/chapters/01-x_test.TestX(0xc00)
	example.com/chapters/01-x/x_test.go:30 +0x1d
example.com/testbed.New()
	example.com/testbed/bed.go:1 +0x1d

goroutine 8 [select]:
example.com/chapters/01-x.other(...)
	example.com/chapters/01-x/x.go:99
`, "\texample.com/chapters/01-x/", "\t"+dir+"/")
	assert.Equal(t, []verdict.Place{{File: "chapters/01-x/x.go", Line: 9}, {File: "chapters/01-x/sub/y.go", Line: 5}}, p.frames(trace))
	assert.Equal(t, []verdict.Place{{File: "chapters/01-x/x_test.go", Line: 3}},
		p.frames("goroutine 1 [running]:\nexample.com/chapters/01-x_test.TestX(0xc00)\n\t"+dir+"/x_test.go:3 +0x1d\n"),
		"the check's own line where the answer has none")
	assert.Empty(t, p.frames("\tsomewhere/else.go:3\n"))
	assert.Equal(t, "panic: boom", panicText("noise\n"+trace))
	assert.NotContains(t, afterPanic("\t"+dir+"/x.go:1\n"+trace), "x.go:1\n")
}

func TestReadCompiler(t *testing.T) {
	p := fixturePlaces(t)
	b, blame := readCompiler("# example.com/chapters/01-x [example.com/chapters/01-x.test]\n./x.go:3:5: undefined: y\n./x_test.go:7:2: not enough arguments\n\thave ()\n", p.staged)
	assert.True(t, blame)
	assert.Equal(t, []string{"chapters/01-x/x.go:3:5: undefined: y", "chapters/01-x/x_test.go:7:2: not enough arguments", "\thave ()"}, b.Lines)
	assert.Equal(t, &verdict.Place{File: "chapters/01-x/x.go", Line: 3}, b.First)
	assert.Contains(t, b.Advice, "names and signatures")

	for _, fault := range []string{
		"go: example.com/testbed@v0.0.0 (replaced by /nowhere): reading /nowhere/go.mod: open /nowhere/go.mod: no such file or directory\n",
		"# example.com/dep\n../dep/dep.go:3:5: undefined: y\n",
		"go: no space left on device\n",
		"",
	} {
		_, blame := readCompiler(fault, p.staged)
		assert.False(t, blame, fault)
	}
}

func TestCheckEnvironment(t *testing.T) {
	got := environment{Kubeconfig: "/k", Home: "/h", Factor: 1.5}.list([]string{
		"PATH=/bin", "HOME=/u", "KUBECONFIG=/u/.kube/config", "KUBERNETES_SERVICE_HOST=1", "LAB_REPORT_WORD=x", "LAB_ROOT=/r",
		"XDG_CONFIG_HOME=/c", "TMPDIR=/t", "GOTRACEBACK=none", "LANG=C",
	}, "/private")
	assert.Equal(t, []string{"PATH=/bin", "LANG=C", "HOME=/private/home", "TMPDIR=/private/tmp", "GOTRACEBACK=single",
		"LAB_KUBECONFIG=/k", "LAB_HOME=/h", "LAB_TIME_FACTOR=1.5"}, got)
}

func TestGoEnv(t *testing.T) {
	env := []string{"PATH=/bin", "GOFLAGS=-mod=vendor", "GOWORK=/x", "CGO_ENABLED=1", "GOOS=plan9", "GOPROXY=off"}
	assert.Equal(t, []string{"PATH=/bin", "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0"}, goEnv(env, false))
	assert.Contains(t, goEnv(env, true), "CGO_ENABLED=1")
}
