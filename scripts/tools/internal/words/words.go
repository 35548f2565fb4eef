// Package words keeps the course speaking of itself alone: no path of the machine
// on which something was written gets into a file that others read.
package words

import (
	"bytes"
	"context"
	"os"
	"regexp"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// A folder of somebody's machine, as a path begins: not part of a longer path or
// of an address.
var machine = regexp.MustCompile(`(?:^|[^\w./$}~-])(/(?:root|work|home/\w+|Users/\w+)/[\w.-]+)`)

// Check looks into every text file that git knows.
func Check(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	files, err := r.Files(ctx)
	if err != nil {
		return nil, err
	}
	var found []repo.Finding
	for _, f := range files {
		data, err := os.ReadFile(r.Path(f))
		if err != nil {
			return nil, err
		}
		found = append(found, scan(f, data)...)
	}
	return found, nil
}

func scan(name string, data []byte) []repo.Finding {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil // not text
	}
	var found []repo.Finding
	for i, line := range bytes.Split(data, []byte("\n")) {
		for _, m := range machine.FindAllSubmatch(line, -1) {
			found = append(found, repo.Finding{Path: name, Line: i + 1, Text: "names a folder of one machine: " + string(m[1])})
		}
	}
	return found
}
