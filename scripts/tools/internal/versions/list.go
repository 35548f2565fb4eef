// Package versions reads scripts/versions, the one list of versions, and finds
// what drifted from it.
package versions

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// File is where the list is.
const File = "scripts/versions"

// List is what the file says.
type List struct {
	Go      string            // "1.26.0"
	GoOf    map[string]string // the same of a folder that has another; never a member of go.work
	Modules map[string]string // path to version
}

// Read returns the list of the checkout.
func Read(r *repo.Repo) (List, error) {
	data, err := os.ReadFile(r.Path(File))
	if err != nil {
		return List{}, err
	}
	return Parse(string(data))
}

// Parse reads lines of "MODULE VERSION"; # begins a comment. "go VERSION" is the
// Go of all modules, "go VERSION FOLDER" that of one outside the workspace.
func Parse(text string) (List, error) {
	l := List{GoOf: map[string]string{}, Modules: map[string]string{}}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) == 3 && f[0] == "go" && repo.Outside(f[2]) != "" {
			l.GoOf[f[2]] = f[1]
			continue
		}
		if len(f) != 2 {
			return List{}, fmt.Errorf("%s:%d: want MODULE VERSION, not %q", File, n, line)
		}
		if f[0] == "go" {
			l.Go = f[1]
			continue
		}
		if !semver.IsValid(f[1]) {
			return List{}, fmt.Errorf("%s:%d: %q is no version", File, n, f[1])
		}
		if _, twice := l.Modules[f[0]]; twice {
			return List{}, fmt.Errorf("%s:%d: %s is listed twice", File, n, f[0])
		}
		l.Modules[f[0]] = f[1]
	}
	if l.Go == "" {
		return List{}, fmt.Errorf("%s: no line \"go VERSION\"", File)
	}
	return l, nil
}
