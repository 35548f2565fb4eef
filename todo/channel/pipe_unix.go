//go:build unix

package channel

import (
	"os"
	"syscall"

	// A process that is a guard has to find out before any other code runs, as a
	// check's process has to take its word.
	_ "github.com/controllings/controllings/todo/guard"
)

// openPipe returns fd as a file if it is a pipe, and nil if not. The descriptor
// is marked close-on-exec, so no process that this one starts inherits it.
func openPipe(fd int) *os.File {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "report")
}
