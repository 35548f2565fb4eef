package greet_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/controllings/controllings/chapters/01-greet"
	"github.com/controllings/controllings/todo/channel"
)

// begin does what testbed.New does: it reports over the channel how the check
// went.
func begin(t *testing.T) func(expected, seen, see string) {
	t.Helper()
	if os.Getenv("KUBECONFIG") != "" || os.Getenv("LAB_KUBECONFIG") == "" || filepath.Base(os.Getenv("HOME")) != "home" {
		t.Fatal("this is not a check's environment")
	}
	_ = channel.Send(channel.Message{Event: channel.Started, Test: t.Name()})
	t.Cleanup(func() {
		if !t.Failed() && !t.Skipped() {
			_ = channel.Send(channel.Message{Event: channel.Passed, Test: t.Name()})
		}
	})
	return func(expected, seen, see string) {
		t.Helper()
		_, file, line, _ := runtime.Caller(1)
		_ = channel.Send(channel.Message{Event: channel.Failed, Test: t.Name(), Failure: &channel.Failure{
			Expected: expected, Seen: seen, See: see, File: file, Line: line,
			Message: "expected " + expected + ", seen " + seen,
		}})
		t.Fatalf("expected %s\nseen %s", expected, seen)
	}
}

func TestHello(t *testing.T) {
	fail := begin(t)
	if got := greet.Hello("Ada"); got != "Hello, Ada" {
		fail(`"Hello, Ada" for the name Ada`, "the greeting "+got, "README.md#step-11--hello")
	}
}

func TestPolite(t *testing.T) {
	fail := begin(t)
	if got := greet.Goodbye("Ada"); got != "Goodbye, Ada" {
		fail(`"Goodbye, Ada"`, "the farewell "+got, "README.md#step-12--goodbye")
	}
}

func TestAlone(t *testing.T) {
	fail := begin(t)
	if got := greet.Letters("Zoë"); got != 3 {
		fail("3 letters in Zoë", "another count of letters", "README.md#step-13--letters")
	}
}

func TestShout(t *testing.T) {
	fail := begin(t)
	if got := greet.Shout("Ada"); got != "ADA!" {
		fail("ADA!", "the shout "+got, "README.md#step-14--shout")
	}
}
