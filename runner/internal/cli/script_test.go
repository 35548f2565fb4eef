package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/controllings/controllings/runner/internal/cluster"
	"github.com/controllings/controllings/runner/internal/hint"
	"github.com/controllings/controllings/runner/internal/report"
)

// The scripts show what a person sees, over a course whose chapter needs no
// cluster. lab runs as a process of its own, with a cluster that is none.

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"lab": func() {
			os.Exit(Main(os.Args[1:], Env{
				Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
				OpenCluster: func(o cluster.Options) (cluster.Provider, error) {
					if os.Getenv("NO_CLUSTER") == "able" {
						return ableCluster{noCluster{o}}, nil
					}
					return noCluster{o}, nil
				},
				Probe: func(_ context.Context, kubeconfig string) error {
					_, err := os.Stat(filepath.Join(filepath.Dir(kubeconfig), "stopped"))
					if os.Getenv("NO_CLUSTER") == "dead" || err == nil {
						return errors.New("connection refused")
					}
					return nil
				},
			}))
		},
	})
}

// noCluster is always up. Its API server answers unless NO_CLUSTER=dead; with
// NO_CLUSTER=broken it can't be started.
type noCluster struct{ o cluster.Options }

func (c noCluster) Name() string { return "none" }

func (c noCluster) Up(context.Context) error {
	if os.Getenv("NO_CLUSTER") == "broken" {
		return errors.New("start etcd: exit code 1")
	}
	return nil
}

func (c noCluster) Down(context.Context) error { return nil }

func (c noCluster) Status(context.Context) (cluster.State, error) {
	return cluster.State{Provider: "none", State: cluster.Up, Kubernetes: "v0.0.0", Server: "https://127.0.0.1:1"}, nil
}

func (c noCluster) Kubeconfig() string { return filepath.Join(c.o.Home, "kubeconfig") }

// ableCluster can be controlled. Its API server is down while there is a file
// "stopped" in LAB_HOME; what was done to it is in the file "did". With
// NO_RESTORE set it can't be put back.
type ableCluster struct{ noCluster }

func (c ableCluster) Can() []string {
	return []string{cluster.CanRestart, cluster.CanCompact, cluster.CanNodes}
}

func (c ableCluster) ControlFile() string { return filepath.Join(c.o.Home, "control") }

func (c ableCluster) did(w io.Writer, format string, args ...any) error {
	f, err := os.OpenFile(filepath.Join(c.o.Home, "did"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(io.MultiWriter(w, f), format+"\n", args...)
	return err
}

func (c ableCluster) Component(_ context.Context, w io.Writer, verb, name string) error {
	if name != "kube-apiserver" {
		return hint.New("there are: kube-apiserver", "no component %q", name)
	}
	return c.did(w, "%s %s", verb, name)
}

func (c ableCluster) Compact(_ context.Context, w io.Writer) error { return c.did(w, "compact") }

func (c ableCluster) AddNodes(_ context.Context, w io.Writer, n int) error {
	return c.did(w, "add %d", n)
}

func (c ableCluster) RemoveNodes(_ context.Context, w io.Writer) error { return c.did(w, "remove") }

func (c ableCluster) Restore(_ context.Context, w io.Writer) error {
	if os.Getenv("NO_RESTORE") != "" {
		return errors.New("start kube-apiserver: exit status 1")
	}
	_ = os.Remove(filepath.Join(c.o.Home, "stopped"))
	return c.did(w, "restore")
}

func TestScripts(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not on PATH")
	}
	goEnv := map[string]string{}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		goEnv[name] = strings.TrimSpace(string(out))
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			for name, value := range goEnv {
				e.Setenv(name, value)
			}
			e.Setenv("COURSE", filepath.Join(e.WorkDir, "course"))
			return layCourse(filepath.Join(e.WorkDir, "course"))
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("no condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mask":    mask,
			"replace": replace,
			"nothing": nothing,
			"way":     way,
			"schema":  schema,
		},
	})
}

// layCourse copies the fixture, and the todo module beside it.
func layCourse(to string) error {
	for from, to := range map[string]string{
		"testdata/course": to,
		"../../../todo":   filepath.Join(to, "todo"),
	} {
		err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(from, p)
			if d.IsDir() {
				return os.MkdirAll(filepath.Join(to, rel), 0o755)
			}
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, rel), data, 0o644)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var masks = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`in \d+\.\d s\.`), "in T s."},
	{regexp.MustCompile(`median [0-9.]+ s, slowest [0-9.]+ s`), "median T s, slowest T s"},
	{regexp.MustCompile(`"seconds": [0-9.]+`), `"seconds": T`},
	{regexp.MustCompile(`(?m)^(::(?:stop-commands::)?)[A-Z2-7]{26}((?:::)?)$`), "${1}WORD${2}"},
	{regexp.MustCompile(`time="[0-9.]+"`), `time="T"`},
	{regexp.MustCompile(`"race": (true|false)`), `"race": R`},
	{regexp.MustCompile(`passes(, with the race detector too| \(no C compiler.*\))`), `passes (race: R)`},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d`), "DATE"},
}

// mask FROM TO writes a copy without what changes from run to run.
func mask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mask from to")
	}
	text := strings.ReplaceAll(ts.ReadFile(args[0]), ts.Getenv("WORK"), "$WORK")
	for _, m := range masks {
		text = m.from.ReplaceAllString(text, m.to)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// replace FILE OLD NEW edits a file; \n is a line's end, \t a tab.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace file old new")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	text = strings.Replace(text, args[1], strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(args[2]), 1)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// schema FILE wants a result as the schema of lab grade says.
func schema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: schema file")
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(report.Schema))
	ts.Check(err)
	c := jsonschema.NewCompiler()
	ts.Check(c.AddResource("grade.json", doc))
	s, err := c.Compile("grade.json")
	ts.Check(err)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(s.Validate(v))
}

// nothing GLOB wants no file of that name.
func nothing(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) > 0 != neg {
		ts.Fatalf("found %s", fmt.Sprint(found))
	}
}
