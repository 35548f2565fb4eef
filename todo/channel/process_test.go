//go:build unix

package channel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
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
	case "stays":
		stays()
	case "stays for a while":
		<-time.After(4 * beat)
		fmt.Println("send:", Send(Message{Event: Passed}))
	case "waits":
		<-time.After(time.Hour)
	}
}

func report() {
	for _, name := range []string{EnvFD, EnvWord} {
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

// stays has a child of its own and never ends.
func stays() {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"=waits")
	if err := c.Start(); err != nil {
		panic(err)
	}
	fmt.Println(c.Process.Pid)
	<-time.After(time.Hour)
}

func run(t *testing.T, extra *os.File, env ...string) string {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), env...)
	if extra != nil {
		c.ExtraFiles = []*os.File{extra}
	}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("child: %v", err)
	}
	return string(out)
}

func TestAcrossProcesses(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	type result struct {
		got []Message
		err error
	}
	done := make(chan result, 1)
	go func() {
		got, err := Read(r, "secret", 1<<20)
		done <- result{got, err}
	}()
	out := run(t, w, childEnv+"=report", EnvFD+"=3", EnvWord+"=secret")
	w.Close()
	res := <-done

	if want := "active: true\ngrandchild active: false\n"; out != want {
		t.Errorf("the child printed %q, want %q", out, want)
	}
	if res.err != nil {
		t.Error(res.err)
	}
	if len(res.got) != 51 {
		t.Errorf("%d messages, want 51", len(res.got))
	}
	for _, m := range res.got {
		if m.Event == Passed {
			t.Error("a message of the grandchild arrived")
		}
	}
}

func TestOutsideACheck(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want := "active: false\nsend: " + ErrNone.Error() + "\n"
	for name, tc := range map[string]struct {
		extra *os.File
		env   []string
	}{
		"no environment":  {},
		"no word":         {env: []string{EnvFD + "=3"}},
		"closed":          {env: []string{EnvFD + "=77", EnvWord + "=w"}},
		"stdout":          {env: []string{EnvFD + "=1", EnvWord + "=w"}},
		"not a number":    {env: []string{EnvFD + "=three", EnvWord + "=w"}},
		"a file, no pipe": {extra: file, env: []string{EnvFD + "=3", EnvWord + "=w"}},
	} {
		t.Run(name, func(t *testing.T) {
			if out := run(t, tc.extra, append(tc.env, childEnv+"=report")...); out != want {
				t.Errorf("the child printed %q, want %q", out, want)
			}
		})
	}
}

// A runner that was killed leaves no check behind, nor what the check started.
func TestTheRunnerIsGone(t *testing.T) {
	for name, own := range map[string]bool{"leader of its group": true, "in another's group": false} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), childEnv+"=stays", EnvFD+"=3", EnvWord+"=secret")
			c.ExtraFiles = []*os.File{w}
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: own}
			printed, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			var grandchild int
			if _, err := fmt.Fscan(printed, &grandchild); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = syscall.Kill(grandchild, syscall.SIGKILL) }()
			ended := make(chan struct{})
			go func() { defer close(ended); _ = c.Wait() }()
			select {
			case <-ended:
				t.Fatal("it ended although its runner was there")
			case <-time.After(3 * beat):
			}

			r.Close()
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				_ = c.Process.Kill()
				t.Fatal("the check outlived its runner by 20 seconds")
			}
			if s := c.ProcessState.String(); s != "signal: killed" {
				t.Errorf("it ended by %q", s)
			}
			if !own {
				return
			}
			for end := time.Now().Add(20 * time.Second); !errors.Is(syscall.Kill(grandchild, 0), syscall.ESRCH); <-time.After(5 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("what the check started outlived it by 20 seconds")
				}
			}
		})
	}
}

// What asks for the runner is no report and disturbs none.
func TestTheRunnerIsThere(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	done := make(chan []Message, 1)
	go func() {
		got, _ := Read(r, "secret", 1<<10)
		done <- got
	}()
	out := run(t, w, childEnv+"=stays for a while", EnvFD+"=3", EnvWord+"=secret")
	w.Close()
	if want := "send: <nil>\n"; out != want {
		t.Errorf("the child printed %q, want %q", out, want)
	}
	if got := <-done; len(got) != 1 || got[0].Event != Passed {
		t.Errorf("got %v", got)
	}
}
