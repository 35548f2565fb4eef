package supervise

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// Tail returns the last n lines of the file at path, reading no more than its
// last 64 KiB. A file that can't be read has no lines.
func Tail(path string, n int) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	const most = 64 << 10
	if info, err := f.Stat(); err == nil && info.Size() > most {
		_, _ = f.Seek(-most, io.SeekEnd)
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil || n <= 0 {
		return nil
	}
	data = bytes.TrimRight(data, "\n")
	if len(data) == 0 {
		return nil
	}
	lines := strings.Split(string(data), "\n")
	return lines[max(0, len(lines)-n):]
}

// ReadFrom returns the whole lines that the file at path has from offset on,
// 1 MiB of them at most, and where to go on. A file that became shorter was
// begun anew, and is read from its start.
func ReadFrom(path string, offset int64) (lines []string, next int64) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() < offset {
		offset = 0
	}
	data, err := io.ReadAll(io.NewSectionReader(f, offset, 1<<20))
	if err != nil {
		return nil, offset
	}
	end := bytes.LastIndexByte(data, '\n')
	if end < 0 {
		return nil, offset
	}
	return strings.Split(string(data[:end]), "\n"), offset + int64(end) + 1
}

// Telling returns the last n of lines that are not part of a Go stack trace:
// what was printed before the trace is why there is one.
func Telling(lines []string, n int) []string {
	var out []string
	for i, l := range lines {
		inFrame := strings.HasPrefix(l, "\t")
		ofFrame := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "\t")
		if l != "" && !inFrame && !ofFrame {
			out = append(out, l)
		}
	}
	return out[max(0, len(out)-n):]
}
