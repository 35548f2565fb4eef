package proof

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/controllings/controllings/runner/internal/answer"
)

// strays finds files that no rule knows. Only what git tracks counts: a learner
// may keep notes and copies as they like. Go files in a chapter are never stray,
// they are the learner's.
func (l *linter) strays(ctx context.Context) {
	tracked, ok := answer.Tracked(ctx, l.c, l.ch.Dir, l.ch.Solution)
	if !ok {
		return // no repository here
	}
	for _, f := range tracked {
		rest, inChapter := strings.CutPrefix(f, l.c.Rel(l.ch.Dir)+"/")
		inSolution := false
		if !inChapter {
			rest, inSolution = strings.CutPrefix(f, l.c.Rel(l.ch.Solution)+"/")
		}
		switch {
		case inChapter && !l.knownInChapter(rest), inSolution && !l.knownInSolution(rest):
			l.problem("stray file %s: it is neither in files: nor one of the files that every chapter has", f)
		}
	}
}

func (l *linter) knownInChapter(rel string) bool {
	top, _, nested := strings.Cut(rel, "/")
	switch {
	case slices.Contains(l.ch.Files, rel), strings.HasSuffix(rel, ".go"),
		rel == "README.md", rel == "chapter.yaml", rel == "go.mod", rel == "go.sum":
		return true
	case nested:
		return top == "config" || top == "testdata" || top == "bench"
	default: // the lesson's pictures and charts
		return path.Ext(rel) == ".svg" || path.Ext(rel) == ".png"
	}
}

func (l *linter) knownInSolution(rel string) bool {
	switch {
	case slices.Contains(l.ch.Files, rel), rel == "README.md", rel == "go.mod", rel == "go.sum", strings.HasSuffix(rel, ".go"),
		rel == "stub.patch", rel == "mistakes/OMITTED.md":
		return true
	}
	dir, file := path.Split(rel)
	return (dir == "mistakes/" || dir == "alternatives/") && strings.HasSuffix(file, ".patch")
}
