package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A cluster that dies under an answer says nothing about it: what had not ended
// is an error, none of it passed and none of it failed, and the next run finds a
// cluster that serves.
func TestTheAPIServerDiesUnderAGrade(t *testing.T) {
	p := newPerson(t)
	t.Cleanup(func() { // without the test's context, which has ended by now
		down := exec.Command(lab, "cluster", "down")
		down.Dir, down.Env = root, p.env
		if out, err := down.CombinedOutput(); err != nil {
			t.Errorf("stop the cluster: %v\n%s", err, out)
		}
	})
	p.lab(0, "cluster", "up")
	outage(t, p, func() { p.lab(0, "cluster", "stop", "kube-apiserver") })

	// The one before a run is mended by the run: it starts what is stopped.
	r := p.lab(0, "run", "1", "--answer", "solution")
	want(t, r.stdout, "Chapter 1 is done.")
	want(t, r.stderr, "started kube-apiserver")
}

// outage grades the worked solution of chapter 1, stops the cluster in the middle,
// and wants a result that blames the cluster alone.
func outage(t *testing.T, p *person, stop func()) {
	t.Helper()
	// Between two pages it waits until the cluster was stopped.
	dir := t.TempDir()
	middle, stopped := filepath.Join(dir, "middle"), filepath.Join(dir, "stopped")
	submission := t.TempDir()
	chapter := filepath.Join(submission, "chapters", "01-clientset")
	require.NoError(t, os.CopyFS(chapter, os.DirFS(filepath.Join(root, "solutions", "01-clientset"))))
	pages := filepath.Join(chapter, "pages.go")
	code, err := os.ReadFile(pages)
	require.NoError(t, err)
	const before = "\t\topts.Continue = page.Continue\n"
	require.Contains(t, string(code), before)
	text := strings.Replace(string(code), before, before+"\t\twaitForTheOutage()\n", 1)
	text = strings.Replace(text, "import (\n", "import (\n\t\"os\"\n\t\"time\"\n", 1)
	text += fmt.Sprintf(`
func waitForTheOutage() {
	_ = os.WriteFile(%q, nil, 0o600)
	for _, err := os.Stat(%q); err != nil; _, err = os.Stat(%q) {
		time.Sleep(10 * time.Millisecond)
	}
}
`, middle, stopped, stopped)
	require.NoError(t, os.WriteFile(pages, []byte(text), 0o600))

	grader := *p // one of its own: it runs beside
	graded := make(chan result, 1)
	go func() { graded <- grader.run(lab, "grade", "1", "--submission", submission, "--format", "json") }()
	eventually(t, 3*time.Minute, func() string {
		if _, err := os.Stat(middle); err != nil {
			return err.Error()
		}
		return ""
	})
	stop()
	require.NoError(t, os.WriteFile(stopped, nil, 0o600))
	r := <-graded
	require.Equal(t, 2, r.code, "%s%s", r.stdout, r.stderr)

	type check struct{ Test, Status, Message string }
	var got struct {
		Status string
		Checks []check
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &got), r.stdout)
	assert.Equal(t, "error", got.Status)
	require.NotEmpty(t, got.Checks)
	for _, c := range got.Checks {
		if c.Test == "TestEachConfigMapGoesPageByPage" {
			assert.Equal(t, "error", c.Status)
		}
		switch c.Status {
		case "error":
			assert.NotEmpty(t, c.Message, c.Test)
			assert.NotContains(t, c.Message, "panic", c.Test)
		case "passed": // it had ended before
		default:
			t.Errorf("%s is %s: %s", c.Test, c.Status, c.Message)
		}
	}
}
