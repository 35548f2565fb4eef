//go:build unix

package channel

import (
	"os"
	"syscall"
)

// die ends this process as kill -9 would: its runner can't be told anything, and
// clean-ups may hang. A check is the leader of its process group, and takes what
// it started along.
func die() {
	pid := os.Getpid()
	if syscall.Getpgrp() == pid {
		pid = 0 // all of the group
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

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
