// Package greet greets.
package greet

import (
	"github.com/controllings/controllings/todo"
)

// Hello greets somebody by name.
func Hello(name string) string {
	// TODO(1.1): greet by name.
	panic(todo.Step("1.1"))
}

// Goodbye says goodbye to somebody.
func Goodbye(name string) string {
	// TODO(1.2): say goodbye.
	panic(todo.Step("1.2"))
}

// Letters counts the letters of a name.
func Letters(name string) int {
	// TODO(1.3): count.
	panic(todo.Step("1.3"))
}

// Shout calls a name.
func Shout(name string) string {
	// TODO(1.4): shout.
	panic(todo.Step("1.4"))
}
