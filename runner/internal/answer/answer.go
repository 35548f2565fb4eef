// Package answer turns the name of an answer into a module that can be built:
// the learner's own files, the stubs, the solution, or the solution plus a
// patch, staged with the course's checks.
//
// Every answer but the learner's own is the solution plus a patch. A patch
// covers the chapter's files: only, so what is checked, and with which
// versions, is never the answer's business.
package answer

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
)

// Kind is what an answer is.
type Kind string

// The kinds of answers, as they are named on the command line.
const (
	Mine        Kind = "mine"
	Stub        Kind = "stub"
	Solution    Kind = "solution"
	Mistake     Kind = "mistakes"
	Alternative Kind = "alternatives"
	// Submission is somebody else's answer, in a tree of its own. It has no name
	// on the command line: see FromSubmission.
	Submission Kind = "submission"
)

// Name names an answer: "mine", "stub", "solution", "mistakes/NAME" or
// "alternatives/NAME".
type Name struct {
	Kind Kind
	Of   string // NAME of a mistake or an alternative; a submission's folder
}

func (n Name) String() string {
	if n.Of == "" || n.Kind == Submission {
		return string(n.Kind)
	}
	return string(n.Kind) + "/" + n.Of
}

var patchName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// ParseName reads the name of an answer.
func ParseName(s string) (Name, error) {
	kind, of, _ := strings.Cut(strings.TrimSuffix(s, ".patch"), "/")
	switch n := (Name{Kind(kind), of}); n.Kind {
	case Mine, Stub, Solution:
		if of == "" {
			return n, nil
		}
	case Mistake, Alternative:
		if patchName.MatchString(of) {
			return n, nil
		}
		if of != "" {
			return Name{}, hint.New("small letters, digits and hyphens: mistakes/lists-everything", "%q can't be the name of an answer", s)
		}
	}
	return Name{}, hint.New("answers are mine, stub, solution, mistakes/NAME and alternatives/NAME", "no answer %q", s)
}

// PatchFile is where the patch of an answer lies; "" for mine and solution.
func PatchFile(ch *course.Chapter, n Name) string {
	switch n.Kind {
	case Stub:
		return filepath.Join(ch.Solution, "stub.patch")
	case Mistake, Alternative:
		return filepath.Join(ch.Solution, string(n.Kind), n.Of+".patch")
	default:
		return ""
	}
}

// Patches lists a chapter's mistakes or alternatives, by name.
func Patches(ch *course.Chapter, kind Kind) ([]Name, error) {
	entries, err := os.ReadDir(filepath.Join(ch.Solution, string(kind)))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var names []Name
	for _, e := range entries {
		if of, ok := strings.CutSuffix(e.Name(), ".patch"); ok && patchName.MatchString(of) {
			names = append(names, Name{kind, of})
		}
	}
	slices.SortFunc(names, func(a, b Name) int { return strings.Compare(a.Of, b.Of) })
	return names, nil
}
