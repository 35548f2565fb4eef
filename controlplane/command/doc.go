// Package command is the command line of controlplane: one file a command, no
// more in it than flags and printing.
package command
