package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/controllings/controllings/runner/internal/verdict"
)

// way NAME DIR [ARG…] grades a submission that is the solution of the fixture's
// chapter with the files of DIR laid over it, and adds a line to the file "table":
// the way, the exit code, how each check ended, and the first words that a person
// gets. A way that passes as a whole ends the script at once.
func way(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: way name dir [arg…]")
	}
	name, dir := args[0], ts.MkAbs(args[1])
	submission := filepath.Join(ts.Getenv("WORK"), "submissions", strings.ReplaceAll(name, " ", "-"))
	chapter := filepath.Join(submission, "chapters", "01-greet")
	ts.Check(copyFile("testdata/course/solutions/01-greet/greet.go", filepath.Join(chapter, "greet.go")))
	ts.Check(copyFile("testdata/course/solutions/01-greet/words.txt", filepath.Join(chapter, "words.txt")))
	ts.Check(overlay(dir, chapter))

	result := submission + ".json"
	cmd := exec.Command("lab", append([]string{"grade", "1", "--submission", submission, "--format", "json", "--output", result}, args[2:]...)...)
	lab, err := exec.LookPath("lab")
	ts.Check(err)
	cmd.Path = lab
	cmd.Dir = ts.Getenv("COURSE")
	cmd.Env = os.Environ()
	for _, v := range []string{"PATH", "HOME", "TMPDIR", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB", "GOMAXPROCS", "LAB_TIME_FACTOR", "NO_CLUSTER"} {
		cmd.Env = append(cmd.Env, v+"="+ts.Getenv(v))
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("run lab: %v", err)
	}
	code := cmd.ProcessState.ExitCode()
	if code == verdict.ExitPassed {
		ts.Fatalf("%s: passed", name)
	}
	table := ts.MkAbs("table")
	old, err := os.ReadFile(table)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Check(err)
	}
	ts.Check(os.WriteFile(table, fmt.Appendf(old, "%s\n    exit %d; %s\n", name, code, strings.ReplaceAll(
		outcome(ts, result, errs.String()), "\n", "\n    ")), 0o600))
}

// outcome is what a result says, in a few lines.
func outcome(ts *testscript.TestScript, result, errs string) string {
	var r verdict.Result
	data, err := os.ReadFile(result)
	ts.Check(err)
	ts.Check(json.Unmarshal(data, &r))
	var words []string
	told := ""
	for _, c := range r.Checks {
		words = append(words, string(c.Status))
		if told == "" && (c.Status == verdict.Failed || c.Status == verdict.Error) {
			told = c.Message
			if c.Actual != "" {
				told = "seen: " + c.Actual
			}
		}
	}
	if r.Build != nil {
		told = strings.Join(r.Build.Lines, "\n")
	}
	if r.Error != nil {
		told = *r.Error
	}
	if told == "" {
		told = errs
	}
	told = strings.ReplaceAll(strings.TrimSpace(told), ts.Getenv("WORK"), "$WORK")
	told = regexp.MustCompile(`after [0-9.]+s`).ReplaceAllString(told, "after T")
	return fmt.Sprintf("%s: %s\n%s", r.Status, strings.Join(words, " "), told)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// overlay copies the files below from into to.
func overlay(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		return copyFile(p, filepath.Join(to, rel))
	})
}
