// Package todo holds the one call that an unwritten step of an exercise makes.
//
// A stub looks like this, in a function of any signature:
//
//	// TODO(1.2): list the Pods that the selectors choose.
//	panic(todo.Step("1.2"))
package todo

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/controllings/controllings/todo/channel"
)

// exitNotStarted is the exit code of a check's process that ran into a step
// nobody has written yet. Any code but 0 would do: what counts is the report.
const exitNotStarted = 3

// Step says that a step of the exercise, such as "1.2", is not written yet.
//
// In a check's process it reports so and ends the process at once, from
// whichever goroutine it is called: an untouched step then reads as "not
// started" and not as a riddle after a time-out. Anywhere else it returns an
// error that names the step and where the lesson explains it.
func Step(step string) error {
	chapter, _, _ := strings.Cut(step, ".")
	err := fmt.Errorf("step %s is not written yet: see step %s in this chapter's README.md; make chapter-%s tells how far you are", step, step, chapter)
	if !channel.Active() {
		return err
	}
	m := channel.Message{
		Event:   channel.NotStarted,
		Step:    step,
		Failure: &channel.Failure{Message: err.Error()},
	}
	if _, file, line, ok := runtime.Caller(1); ok {
		m.Failure.File, m.Failure.Line = file, line
	}
	if sendErr := channel.Send(m); sendErr != nil {
		// No report means no "passed" either, so the check fails. Say why.
		fmt.Fprintf(os.Stderr, "todo: report step %s: %v\n", step, sendErr)
	}
	fmt.Fprintln(os.Stderr, err)
	channel.Leave()
	os.Exit(exitNotStarted)
	return err // not reached
}
