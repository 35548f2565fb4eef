// Package channel is the wire between a check's process and the runner that
// judges it: one JSON object a line, over a pipe that only these two hold.
//
// Test output is no verdict, since anybody can print "--- PASS". So the runner
// starts each check with the write end of a pipe and a one-time word; a message
// without that word is dropped. The word comes over a pipe of its own, which is
// empty once it was read: no environment of a process holds it, and whoever comes
// later finds nothing. The check's side reads it before any code runs that
// imports this package, and the runner sees to it that every package of an answer
// does. It keeps both pipes from child processes.
//
// Code that shares the process with its check could still search the memory for
// the word; strangers' code is graded in a container.
package channel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
)

// The environment in which the runner tells a check's process how to report.
const (
	envReports = "LAB_REPORT_FD"      // the reports' pipe, a file descriptor from 3 up
	envWord    = "LAB_REPORT_WORD_FD" // the pipe with the one-time word that each message must bear
)

// The events of a check's life, in Message.Event.
const (
	Started    = "started"     // testbed.New was reached
	Passed     = "passed"      // the check ended and had nothing to complain about
	Failed     = "failed"      // the learner's code is not right; Failure says why
	Skipped    = "skipped"     // the check can't run on this cluster
	NotStarted = "not_started" // the code ran into todo.Step; Step says which
	// Error says that the testbed could not do its own work (no namespace, no
	// answer from the API server), so there is no verdict on the learner's code.
	Error = "error"
)

// Message is one report of a check's process.
type Message struct {
	Word    string   `json:"word"`              // the one-time word; Send fills it in
	Event   string   `json:"event"`             // one of the events above
	Test    string   `json:"test,omitempty"`    // the Go test's name, "TestX" or "TestX/part"; not known to todo.Step
	Step    string   `json:"step,omitempty"`    // of a NotStarted: "1.2"
	Failure *Failure `json:"failure,omitempty"` // of Failed, NotStarted and Error; of Skipped, why
}

// Failure says what is wrong, for a person to read.
type Failure struct {
	Expected string `json:"expected,omitempty"` // what should have been
	Seen     string `json:"seen,omitempty"`     // what was, with the recent requests; may have several lines
	See      string `json:"see,omitempty"`      // where to read on: "README.md#selectors"
	Message  string `json:"message,omitempty"`  // the whole as the check printed it
	File     string `json:"file,omitempty"`     // the learner's file, where it is known
	Line     int    `json:"line,omitempty"`     // 1-based; 0 = not known
}

// ErrNone is what Send returns in a process that no runner started.
var ErrNone = errors.New("channel: not a check's process")

// ErrTooLong is what Read returns when a process sent more than the limit.
var ErrTooLong = errors.New("channel: more reports than the limit allows")

// maxText bounds each text of a failure, in bytes. A message then fits into a
// pipe's buffer even where the reader is slow.
const maxText = 8 << 10

// maxWord bounds the one-time word, in bytes.
const maxWord = 128

var (
	mu   sync.Mutex // one line at a time
	out  io.Writer  // nil = not a check's process
	word string
)

// Before main, and before the init of every package that imports this one: the
// learner's code and its children find neither the word nor the pipe.
func init() { open() }

func open() {
	reports, words := inherited(envReports), inherited(envWord)
	if words == nil || reports == nil {
		return
	}
	// All of the word is in the pipe, and its other end closed, before the
	// process starts.
	w, err := io.ReadAll(io.LimitReader(words, maxWord))
	_ = words.Close()
	if err != nil || len(w) == 0 {
		return
	}
	out, word = reports, string(w)
}

// inherited takes a variable out of the environment, and returns the pipe it
// names, or nil. A left-over variable may name a descriptor that is closed by
// now, or one that belongs to the Go runtime. Only a pipe is taken.
func inherited(name string) *os.File {
	text := os.Getenv(name)
	_ = os.Unsetenv(name)
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 3 {
		return nil
	}
	return openPipe(fd)
}

// Active reports whether this process is a check that a runner started.
func Active() bool {
	mu.Lock()
	defer mu.Unlock()
	return out != nil
}

// Send reports m to the runner. It is safe for use by several goroutines. In a
// process that no runner started it does nothing and returns ErrNone.
func Send(m Message) error {
	mu.Lock()
	defer mu.Unlock()
	if out == nil {
		return ErrNone
	}
	m.Word = word
	return write(out, m)
}

func write(w io.Writer, m Message) error {
	if m.Failure != nil {
		f := *m.Failure
		f.Expected, f.Seen, f.See, f.Message = cut(f.Expected), cut(f.Seen), cut(f.See), cut(f.Message)
		m.Failure = &f
	}
	line, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("send report: %w", err)
	}
	return nil
}

func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	// json.Marshal replaces the half of a character that this may leave.
	return s[:maxText] + "…"
}
