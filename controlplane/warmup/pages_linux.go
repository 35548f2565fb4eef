package warmup

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dropProgramPages lets go of the pages of the program's file that this process
// has mapped for reading. The kernel keeps them in its cache, once for all
// processes, and maps those again that are still used.
func dropProgramPages() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		// 00400000-04a8d000 r-xp 00000000 08:01 1234  /path/of/the program
		line := s.Text()
		if !strings.HasSuffix(line, exe) {
			continue
		}
		var from, to uintptr
		var perm string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &perm); err != nil {
			continue
		}
		// Never what can be written: its pages are not the file's any more.
		if perm[0] != 'r' || perm[1] == 'w' {
			continue
		}
		region := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(nil), from)), to-from)
		_ = unix.Madvise(region, unix.MADV_DONTNEED) // no harm if it won't
	}
}
