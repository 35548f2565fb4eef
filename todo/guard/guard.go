// Package guard runs a program so that neither it nor anything it started
// outlives the process that asked for it, whatever any of them does.
//
// Between the two stands a third process, the guard: this very executable,
// started again. It holds the read end of a pipe whose only write end is its
// parent's. When that closes (the parent has ended, by kill -9 too) the guard
// kills the program and all its descendants, and ends. It does the same when the
// program ends by itself, as the end of a container's first process is the end
// of the others.
//
// The guard has a session of its own, so that a kill of its parent's process
// group doesn't reach it. On Linux it is a child subreaper (prctl(2),
// PR_SET_CHILD_SUBREAPER): whoever leaves the program by setsid and a double
// fork becomes the guard's child, and is found. Elsewhere there is no such
// thing, and what is killed is the program's process group.
//
// The guard takes over in this package's init, before main. The package imports
// only the standard library, so that hardly anything is initialised before it.
package guard

import (
	"os"
	"syscall"
	"time"
)

// env makes an executable with this package in it a guard.
const env = "LAB_GUARD"

// Options say what to run.
type Options struct {
	// Path is the program.
	Path string
	// Args are its arguments, without the program's name.
	Args []string
	// Env is its whole environment. Of two values for one name the later counts.
	Env []string
	// Dir is its working directory; "" is the caller's.
	Dir string
	// Output gets its standard output and error, as a file and not as a copy, so
	// that it can't be held up by the caller. nil discards them.
	Output *os.File
	// Inherit are open files that it gets as descriptors 3, 4, …
	Inherit []*os.File
	// Remove is a folder that goes too, when the caller has ended before the
	// program and can't do it any more. "" is none.
	Remove string
}

// Exit is how a program ended.
type Exit struct {
	// Code is the exit code; -1 when a signal ended it.
	Code int
	// Signal is the signal that ended it; 0 when it ended by itself.
	Signal syscall.Signal
	// Elapsed is how long it ran.
	Elapsed time.Duration
}

// spec is the first message to the guard.
type spec struct {
	Path   string
	Args   []string
	Env    []string
	Dir    string
	Files  int    // how many descriptors from outputFD on are the program's
	Remove string // a folder to remove at the parent's end; without a Path, that is all
}

// command is any other message to it.
type command struct{ Signal syscall.Signal }

// event is a message from it.
type event struct {
	PID   int    `json:",omitempty"` // the program runs
	Error string `json:",omitempty"` // it could not be started
	Acted bool   `json:",omitempty"` // a command was carried out
	Exit  *Exit  `json:",omitempty"` // it has ended, and so has all that it left
}

// The guard's descriptors: commands come in on 0, events go out on 1, its own
// last words to 2, and from here on are the program's: output, then Inherit.
const outputFD = 3

// FirstInherited is the descriptor of the first of Options.Inherit.
const FirstInherited = 3
