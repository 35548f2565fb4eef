// Package greet greets.
package greet

import (
	"strings"
	"unicode/utf8"
)

// Hello greets somebody by name.
func Hello(name string) string {
	return "Hello, " + name
}

// Goodbye says goodbye to somebody.
func Goodbye(name string) string {
	return "Goodbye, " + name
}

// Letters counts the letters of a name.
func Letters(name string) int {
	return utf8.RuneCountInString(name)
}

// Shout calls a name.
func Shout(name string) string {
	return strings.ToUpper(name) + "!"
}
