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

// kill kills each descendant of this process; without /proc, the program's process
// group. The group is not for where there is /proc: its number may be another's
// once the program has been waited for.
func kill(group int) {
	found, ok := descendants(os.Getpid())
	if !ok && group > 0 {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	for pid, parent := range found {
		// On a busy machine numbers come round quickly, and reading /proc is slow
		// there. One that was adopted meanwhile is found the next time.
		if p, ok := parentOf(strconv.Itoa(pid)); ok && p == parent {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// descendants lists what descends from a process now, with its parent. It reports
// false without /proc.
func descendants(of int) (map[int]int, bool) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, false
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
	found := map[int]int{}
	for pid := range parents {
		// The bound keeps a table that changed while it was read from being a ring.
		for p, n := parents[pid], 0; p > 0 && n < len(parents); p, n = parents[p], n+1 {
			if p == of {
				found[pid] = parents[pid]
				break
			}
		}
	}
	_, ok := parents[of] // or this is no /proc
	return found, ok
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
