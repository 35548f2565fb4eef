//go:build !unix

package channel

import "os"

func die() { os.Exit(1) }

// openPipe finds nothing: the course's runner is for Linux and macOS.
func openPipe(int) *os.File { return nil }
