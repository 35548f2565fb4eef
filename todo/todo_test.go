package todo

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/controllings/controllings/todo/channel"
)

// childEnv makes this test binary play a check whose step is not written.
const childEnv = "TODO_TEST_PART"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "test goroutine":
		stub()
	case "other goroutine":
		done := make(chan int)
		go func() { stub(); close(done) }()
		<-done
	}
	os.Exit(m.Run())
}

func stub() { panic(Step("4.2")) }

func TestStepOutsideACheck(t *testing.T) {
	err := Step("4.2")
	if err == nil || !strings.Contains(err.Error(), "step 4.2 is not written yet") {
		t.Errorf("got %v", err)
	}
}

func TestStepInACheck(t *testing.T) {
	for _, part := range []string{"test goroutine", "other goroutine"} {
		t.Run(part, func(t *testing.T) {
			c := exec.Command(os.Args[0])
			w, err := channel.New()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			c.Env = append(append(os.Environ(), w.Env(3)...), childEnv+"="+part)
			c.ExtraFiles = w.Files()
			out, err := c.CombinedOutput()
			w.Started()

			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitNotStarted {
				t.Errorf("ended with %v, want exit %d\n%s", err, exitNotStarted, out)
			}
			if strings.Contains(string(out), "goroutine") {
				t.Errorf("a trace in the output:\n%s", out)
			}
			got, err := w.Read(1 << 20)
			if err != nil || len(got) != 1 {
				t.Fatalf("messages %v, %v", got, err)
			}
			m := got[0]
			if m.Event != channel.NotStarted || m.Step != "4.2" {
				t.Errorf("got %+v", m)
			}
			if m.Failure == nil || !strings.HasSuffix(m.Failure.File, "todo_test.go") || m.Failure.Line == 0 {
				t.Errorf("the stub's place is missing: %+v", m.Failure)
			}
		})
	}
}

func TestStepReachesItsReader(t *testing.T) {
	// Outside a check the stub panics with the error: a plain `go test` then
	// shows the sentence and not a riddle.
	defer func() {
		err, ok := recover().(error)
		if !ok || !strings.Contains(err.Error(), "README.md") {
			t.Errorf("panicked with %v", err)
		}
	}()
	stub()
}
