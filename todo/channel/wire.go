package channel

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Wire is the runner's end of a channel to one check's process.
type Wire struct {
	word    string
	reports *os.File
	theirs  []*os.File
}

// New makes a channel. The process must inherit Files and find Env in its
// environment. Call Started when it was started, whether that worked or not, and
// Close in the end.
func New() (*Wire, error) {
	reports, theirReports, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the check's channel: %w", err)
	}
	theirWord, words, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the check's channel: %w", err), reports.Close(), theirReports.Close())
	}
	w := &Wire{word: rand.Text(), reports: reports, theirs: []*os.File{theirReports, theirWord}}
	_, err = words.WriteString(w.word) // a pipe's buffer holds it
	if err := errors.Join(err, words.Close()); err != nil {
		w.Started()
		w.Close()
		return nil, fmt.Errorf("make the check's channel: %w", err)
	}
	return w, nil
}

// Files are what the process must inherit, one descriptor after the other.
func (w *Wire) Files() []*os.File { return w.theirs }

// Env are the variables by which the process finds the channel, where fd is the
// descriptor of the first of Files.
func (w *Wire) Env(fd int) []string {
	return []string{fmt.Sprint(envReports, "=", fd), fmt.Sprint(envWord, "=", fd+1)}
}

// Started closes the ends that are the process's by now.
func (w *Wire) Started() {
	for _, f := range w.theirs {
		_ = f.Close()
	}
	w.theirs = nil
}

// Read reads what the process reports, as Read does.
func (w *Wire) Read(max int64) ([]Message, error) { return Read(w.reports, w.word, max) }

// Drain reads on and throws away, so that a process that sends too much doesn't
// hang in its next report.
func (w *Wire) Drain() { _, _ = io.Copy(io.Discard, w.reports) }

// Cut ends Read and Drain after that time: whoever still holds the pipe has no
// say any more.
func (w *Wire) Cut(after time.Duration) { _ = w.reports.SetReadDeadline(time.Now().Add(after)) }

// Close gives the pipe back.
func (w *Wire) Close() { _ = w.reports.Close() }
