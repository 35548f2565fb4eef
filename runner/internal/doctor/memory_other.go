//go:build !linux

package doctor

import (
	"context"
	"os"
	"strconv"
)

// memorySize is the machine's memory.
func memorySize(ctx context.Context) (uint64, error) {
	text, err := command(ctx, os.TempDir(), nil, "sysctl", "-n", "hw.memsize")
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(text, 10, 64)
}
