package answer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
)

// Rebased says what became of one patch.
type Rebased struct {
	Name  Name
	Moved bool   // written again
	Desk  string // where its conflicts wait to be solved, or ""
}

// Rebase carries all patches of a chapter over a change of its solution. A patch
// that still applies is written again where its lines have moved. For one that
// does not, the last committed solution that it applied to is the base of a
// three-way merge; conflicts are laid out as `author edit` does.
func Rebase(ctx context.Context, c *course.Course, ch *course.Chapter) ([]Rebased, error) {
	names := []Name{{Kind: Stub}}
	for _, kind := range []Kind{Mistake, Alternative} {
		more, err := Patches(ch, kind)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	var done []Rebased
	for _, n := range names {
		if _, err := os.Stat(PatchFile(ch, n)); err != nil {
			continue
		}
		r, err := rebase(ctx, c, ch, n)
		if err != nil {
			return done, fmt.Errorf("rebase %s: %w", n, err)
		}
		done = append(done, r)
	}
	return done, nil
}

func rebase(ctx context.Context, c *course.Course, ch *course.Chapter, n Name) (Rebased, error) {
	r := Rebased{Name: n}
	patch := PatchFile(ch, n)
	before, err := os.ReadFile(patch)
	if err != nil {
		return r, err
	}
	p, err := parsePatch(string(before), c.Rel(patch))
	if err != nil {
		return r, err
	}
	base, err := solution(c, ch)
	if err != nil {
		return r, err
	}
	files, err := apply(ctx, c, ch, base, p, c.Rel(patch))
	if err != nil {
		var conflicts bool
		if files, conflicts, err = merge(ctx, c, ch, base, p, patch); err != nil {
			return r, err
		}
		if conflicts {
			r.Desk = DeskDir(c, ch, n)
			if err := os.MkdirAll(r.Desk, 0o700); err != nil {
				return r, err
			}
			s := &Staged{Dir: r.Desk, Name: n, unlock: func() {}}
			if err := s.lay(c, ch, files); err != nil {
				return r, err
			}
			return r, writeFile(filepath.Join(r.Desk, HeadFile), []byte(p.Head))
		}
	}
	if err := writePatch(ctx, c, ch, n, p.Head, files); err != nil {
		return r, err
	}
	after, err := os.ReadFile(patch)
	r.Moved = !bytes.Equal(before, after)
	return r, err
}

// merge lays the patch's change over the new solution.
func merge(ctx context.Context, c *course.Course, ch *course.Chapter, now Files, p *Patch, patch string) (merged Files, conflicts bool, err error) {
	old, theirs, err := lastGood(ctx, c, ch, p, patch)
	if err != nil {
		return nil, false, err
	}
	dir, err := os.MkdirTemp("", "lab-merge-")
	if err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(dir)
	merged = Files{}
	for _, name := range ch.Files {
		sides := []string{"solution", "before", "answer"}
		for i, f := range []Files{now, old, theirs} {
			if err := writeFile(filepath.Join(dir, sides[i]), f[name].Data); err != nil {
				return nil, false, err
			}
		}
		out, exit, err := git(ctx, dir, "", "merge-file", "-p", "solution", "before", "answer")
		if exit < 0 || exit > 127 {
			return nil, false, err
		}
		conflicts = conflicts || exit > 0
		_, inNow := now[name]
		_, inTheirs := theirs[name]
		if out != "" || (inNow && inTheirs) {
			merged[name] = File{Data: []byte(out), Origin: c.Rel(filepath.Join(ch.Solution, name))}
		}
	}
	return merged, conflicts, nil
}

// lastGood finds the newest committed solution to which the patch applies.
func lastGood(ctx context.Context, c *course.Course, ch *course.Chapter, p *Patch, patch string) (old, theirs Files, err error) {
	out, _, err := repoGit(ctx, c.Root, "log", "--format=%H", "-n", "100", "--", c.Rel(ch.Solution))
	if err != nil {
		return nil, nil, hint.New("a patch that no longer applies is carried over with the help of git's history", "%w", err)
	}
	for commit := range strings.FieldsSeq(out) {
		old := Files{}
		for _, name := range ch.Files {
			path := c.Rel(ch.Solution) + "/" + name
			data, exit, err := repoGit(ctx, c.Root, "show", commit+":./"+path)
			if exit < 0 {
				return nil, nil, err
			}
			if err == nil {
				old[name] = File{[]byte(data), path}
			}
		}
		if len(old) == 0 {
			continue
		}
		if theirs, err := apply(ctx, c, ch, old, p, c.Rel(patch)); err == nil {
			return old, theirs, nil
		}
	}
	return nil, nil, hint.New(fmt.Sprintf("write it again: remove it, then `bin/lab author edit %d …`", ch.Number),
		"%s applies to no committed solution", c.Rel(patch))
}
