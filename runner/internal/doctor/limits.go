package doctor

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// leastFiles that a process must be able to have open: etcd and the API server
// hold hundreds.
const leastFiles = 1024

// limits looks at what the system grants a process.
func limits(context.Context, Options) Finding {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return warn("see ulimit -n", "not known: %v", err)
	}
	// A Go program raises its own limit up to the hard one.
	if files.Max < leastFiles {
		return failed("raise it: ulimit -Hn 4096, or in /etc/security/limits.conf", "%d open files at most (ulimit -Hn): the cluster needs %d", files.Max, leastFiles)
	}
	found := "open files: " + strconv.FormatUint(files.Max, 10)
	if files.Max > 1<<40 {
		found = "open files: no limit"
	}
	// Linux has limits for whoever waits for files to change: lab watch, and the
	// components in a kind node.
	for name, least := range map[string]int{"max_user_instances": 128, "max_user_watches": 8192} {
		data, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
		if err != nil {
			continue // not this system
		}
		if have, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && have < least {
			return warn("sudo sysctl fs.inotify."+name+"="+strconv.Itoa(4*least), "fs.inotify.%s is %d: watching files may fail", name, have)
		}
	}
	return ok("%s", found)
}
