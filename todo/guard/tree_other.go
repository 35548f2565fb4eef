//go:build !linux

package guard

import "syscall"

func adopt() {}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// kill kills the program's process group: as much as there is without a subreaper.
func kill(group int) {
	if group > 0 {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}
