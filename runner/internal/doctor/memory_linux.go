package doctor

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// memorySize is the machine's memory, or a container's limit if that is less.
func memorySize(context.Context) (uint64, error) {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0, err
	}
	total := uint64(info.Totalram) * uint64(info.Unit) //nolint:unconvert // narrower on a 32-bit machine
	for _, f := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		data, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64); err == nil {
			total = min(total, limit)
		}
	}
	return total, nil
}
