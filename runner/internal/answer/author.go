package answer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
)

// HeadFile is where a patch's head lies beside the laid-out answer.
const HeadFile = "patch-head.txt"

// DeskDir is where an answer is laid out for its author.
func DeskDir(c *course.Course, ch *course.Chapter, n Name) string {
	return filepath.Join(c.Home, "author", ch.ID, strings.ReplaceAll(n.String(), "/", "-"))
}

// Edit lays a patched answer out to be edited, as a module in which `go test`
// works. One that does not exist yet begins as the solution. It does not lay
// over changes that were not saved, unless again is set.
func Edit(ctx context.Context, c *course.Course, ch *course.Chapter, n Name, again bool) (dir string, err error) {
	if PatchFile(ch, n) == "" {
		return "", hint.New("it has no patch: edit its files where they are", "%s is not made by a patch", n)
	}
	files, head, err := patched(ctx, c, ch, n)
	if err != nil {
		return "", err
	}
	dir = DeskDir(c, ch, n)
	if !again {
		if changed, err := unsaved(c, ch, dir, files, head); err != nil {
			return "", err
		} else if changed {
			return "", hint.New(fmt.Sprintf("`bin/lab author save %d %s` writes them; `--again` throws them away", ch.Number, n),
				"%s has changes that were not saved", c.Rel(dir))
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	s := &Staged{Dir: dir, Name: n, unlock: func() {}}
	if err := s.lay(c, ch, files); err != nil {
		return "", stageError(err)
	}
	return dir, writeFile(filepath.Join(dir, HeadFile), []byte(head))
}

// patched is the answer and its patch's head; of a new one, the solution and a
// head to fill in.
func patched(ctx context.Context, c *course.Course, ch *course.Chapter, n Name) (Files, string, error) {
	patch := PatchFile(ch, n)
	if _, err := os.Stat(patch); errors.Is(err, fs.ErrNotExist) {
		files, err := solution(c, ch)
		return files, emptyHead(n), err
	}
	p, err := ReadPatch(patch, c.Rel(patch))
	if err != nil {
		return nil, "", err
	}
	files, err := Load(ctx, c, ch, n)
	return files, strings.TrimRight(p.Head, "\n") + "\n", err
}

func emptyHead(n Name) string {
	switch n.Kind {
	case Mistake:
		return "Title:\nWrong:\nRejected-By:\nSays:\nSource:\n"
	case Alternative:
		return "Title:\nRight:\n"
	default:
		return ""
	}
}

func unsaved(c *course.Course, ch *course.Chapter, dir string, files Files, head string) (bool, error) {
	have, haveHead, err := desk(c, ch, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return !equal(have, files) || strings.TrimSpace(haveHead) != strings.TrimSpace(head), nil
}

// desk reads a laid-out answer back, with the solution's import prefix.
func desk(c *course.Course, ch *course.Chapter, dir string) (Files, string, error) {
	head, err := os.ReadFile(filepath.Join(dir, HeadFile))
	if err != nil {
		return nil, "", err
	}
	files, err := read(c, ch, dir)
	if err != nil {
		return nil, "", err
	}
	module, err := stagedModule(c, ch)
	if err != nil {
		return nil, "", err
	}
	for name, f := range files {
		f.Data = toSolution(name, f.Data, module)
		files[name] = f
	}
	return files, string(head), nil
}

// Save writes the patch of a laid-out answer again, and proves that it applies.
func Save(ctx context.Context, c *course.Course, ch *course.Chapter, n Name) (patch string, err error) {
	patch = PatchFile(ch, n)
	if patch == "" {
		return "", hint.New("it has no patch", "%s is not made by a patch", n)
	}
	dir := DeskDir(c, ch, n)
	files, head, err := desk(c, ch, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", hint.New(fmt.Sprintf("`bin/lab author edit %d %s` first", ch.Number, n), "%s is not laid out", n)
	}
	if err != nil {
		return "", err
	}
	if p, err := parsePatch(head, c.Rel(filepath.Join(dir, HeadFile))); err != nil {
		return "", err
	} else if err := p.GoodHead(n); err != nil {
		return "", hint.New("fill in "+c.Rel(filepath.Join(dir, HeadFile)), "%w", err)
	}
	return patch, writePatch(ctx, c, ch, n, head, files)
}

// GoodHead says what a patch's head lacks for its kind.
func (p *Patch) GoodHead(n Name) error {
	var lacks []string
	need := func(name, value string) {
		if value == "" {
			lacks = append(lacks, name+":")
		}
	}
	switch n.Kind {
	case Mistake:
		need("Title", p.Title)
		need("Wrong", p.Wrong)
		need("Rejected-By", p.RejectedBy)
		need("Says", p.Says)
		need("Source", p.Source)
	case Alternative:
		need("Title", p.Title)
		need("Right", p.Right)
		if p.RejectedBy+p.Says+p.Wrong != "" {
			return fmt.Errorf("%s is an alternative: no check rejects it", n)
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("the head of %s lacks %s", n, strings.Join(lacks, ", "))
	}
	return nil
}

func writePatch(ctx context.Context, c *course.Course, ch *course.Chapter, n Name, head string, files Files) error {
	base, err := solution(c, ch)
	if err != nil {
		return err
	}
	text, err := diff(ctx, base, files, "a", "b", false)
	if err != nil {
		return err
	}
	if text == "" {
		return hint.New("change a file first", "%s is the solution: nothing to write", n)
	}
	text = withoutHashes(text)
	if head = strings.TrimRight(head, "\n"); head != "" {
		head += "\n\n"
	}
	patch := PatchFile(ch, n)
	p, err := parsePatch(head+text, c.Rel(patch))
	if err != nil {
		return err
	}
	again, err := apply(ctx, c, ch, base, p, c.Rel(patch))
	if err != nil {
		return err
	}
	if !equal(again, files) {
		return fmt.Errorf("%s, applied, is not what was laid out", c.Rel(patch))
	}
	return ReplaceFile(patch, []byte(head+text))
}

// withoutHashes drops git's own lines before a file's --- and +++: their hashes
// would change with every change of the solution, and say nothing.
func withoutHashes(diff string) string {
	var b strings.Builder
	inHead := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			inHead = true
		case strings.HasPrefix(line, "--- "):
			inHead = false
		}
		if !inHead {
			b.WriteString(line)
		}
	}
	return b.String()
}
