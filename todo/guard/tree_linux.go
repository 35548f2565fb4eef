package guard

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// adopt makes this process the parent of all its descendants whose own parent
// ends: PR_SET_CHILD_SUBREAPER, prctl(2), Linux 3.4.
func adopt() {
	const setChildSubreaper = 36
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// attributes gives the program a process group of its own, and a second line of
// defence: it dies with the guard. (The kernel means the thread that forked; the
// runtime keeps an init on the main one, which lives as long as the process.)
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill kills the program's process group and each descendant of this process.
func kill(group int) {
	if group > 0 {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	for _, pid := range descendants(os.Getpid()) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// descendants lists what descends from a process now. Without /proc it is nothing.
func descendants(of int) []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	parents := make(map[int]int, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if parent, ok := parentOf(name); ok {
				parents[pid] = parent
			}
		}
	}
	var found []int
	for pid := range parents {
		// The bound keeps a table that changed while it was read from being a ring.
		for p, n := parents[pid], 0; p > 0 && n < len(parents); p, n = parents[p], n+1 {
			if p == of {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// parentOf reads /proc/PID/stat, "42 (any name) S 1 …": proc_pid_stat(5).
func parentOf(pid string) (int, bool) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, false // it has just ended
	}
	end := bytes.LastIndexByte(text, ')') // a name may hold one
	if end < 0 {
		return 0, false
	}
	fields := bytes.Fields(text[end+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
