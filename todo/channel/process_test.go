//go:build unix

package channel

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// The tests below start this test binary again as a check's process; childEnv
// tells it which part to play.
const childEnv = "CHANNEL_TEST_PART"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "report":
		report()
	case "grandchild":
		grandchild()
	}
}

func report() {
	for _, name := range []string{envReports, envWord} {
		if v, ok := os.LookupEnv(name); ok {
			fmt.Printf("%s=%s is still set\n", name, v)
		}
	}
	fmt.Println("active:", Active())
	if err := Send(Message{Event: Started, Test: "TestX"}); err != nil {
		fmt.Println("send:", err)
		return
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { _ = Send(Message{Event: Failed, Failure: &Failure{Seen: strings.Repeat("x", 3000)}}) })
	}
	wg.Wait()

	// The word is nowhere that the learner's code may look: its pipe is empty and
	// closed, and the system's own copy of the environment never had it.
	if _, err := os.NewFile(4, "").Read(make([]byte, 1)); err == nil {
		fmt.Println("the word can be read again")
	}
	if env, err := os.ReadFile("/proc/self/environ"); err == nil && strings.Contains(string(env), word) {
		fmt.Println("the word is in the environment")
	}
	// A process the learner starts has neither word nor pipe.
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"=grandchild")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		fmt.Println("grandchild:", err)
	}
}

func grandchild() {
	if _, err := os.NewFile(3, "").WriteString(`{"word":"secret","event":"passed"}` + "\n"); err == nil {
		fmt.Println("the grandchild could write to the pipe")
	}
	fmt.Println("grandchild active:", Active())
}

func TestAcrossProcesses(t *testing.T) {
	c := exec.Command(os.Args[0])
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c.Env = append(append(os.Environ(), w.Env(3)...), childEnv+"=report")
	c.ExtraFiles = w.Files()
	err = c.Start()
	w.Started()
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Read(1 << 20)
	if err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if want := "active: true\ngrandchild active: false\n"; out.String() != want {
		t.Errorf("the child printed %q, want %q", out.String(), want)
	}
	if len(got) != 51 {
		t.Errorf("%d messages, want 51", len(got))
	}
	for _, m := range got {
		if m.Event == Passed {
			t.Error("a message of the grandchild arrived")
		}
	}
}

// TestWordsDiffer shows that one process's word opens no other's channel.
func TestWordsDiffer(t *testing.T) {
	words := map[string]bool{}
	for range 5 {
		w, err := New()
		if err != nil {
			t.Fatal(err)
		}
		words[w.word] = true
		w.Started()
		w.Close()
	}
	if len(words) != 5 || words[""] {
		t.Errorf("words of five channels: %v", words)
	}
}

func TestOutsideACheck(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	empty, none, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	none.Close()
	defer empty.Close()
	want := "active: false\nsend: " + ErrNone.Error() + "\n"
	for name, tc := range map[string]struct {
		extra []*os.File
		env   []string
	}{
		"no environment":  {},
		"no word":         {extra: []*os.File{empty}, env: []string{envReports + "=3"}},
		"an empty word":   {extra: []*os.File{empty, empty}, env: []string{envReports + "=3", envWord + "=4"}},
		"closed":          {env: []string{envReports + "=77", envWord + "=78"}},
		"stdout":          {env: []string{envReports + "=1", envWord + "=2"}},
		"not a number":    {env: []string{envReports + "=three", envWord + "=four"}},
		"a file, no pipe": {extra: []*os.File{file, empty}, env: []string{envReports + "=3", envWord + "=4"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := exec.Command(os.Args[0])
			c.Env = append(append(os.Environ(), tc.env...), childEnv+"=report")
			c.ExtraFiles = tc.extra
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("child: %v", err)
			}
			if string(out) != want {
				t.Errorf("the child printed %q, want %q", out, want)
			}
		})
	}
}
