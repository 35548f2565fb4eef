package answer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
)

// What is read of one chapter of a submission. Worked chapters are a hundredth of
// it; a submission beyond is a mistake or a trap.
const (
	maxFile    = 1 << 20 // bytes
	maxTotal   = 4 << 20 // bytes
	maxAdded   = 200     // Go files
	maxEntries = 5000    // files and folders passed by
)

// FromSubmission names the learner's answer in the tree dir, which is shaped like
// the course: dir/chapters/NN-topic.
func FromSubmission(dir string) Name { return Name{Kind: Submission, Of: dir} }

// submission is what mine is for a folder of the course: the chapter's files:,
// and the Go files that the learner added there or below. Nothing else of the
// submission is looked at, and no link that leads out of it is followed.
func submission(ch *course.Chapter, dir string) (Files, error) {
	const shape = "a submission is a tree shaped like the course: DIR/chapters/NN-topic"
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, hint.New(shape, "open the submission: %w", err)
	}
	defer root.Close()
	base := "chapters/" + ch.ID
	info, err := root.Stat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Not "not started": whoever has not begun has the stubs. So the wrong
		// tree was handed in, or a part of it got lost, and somebody has to look.
		return nil, hint.New(shape+"; name the chapters to grade where it holds only some: lab grade 1 2", "the submission has no folder %s", base)
	case err != nil:
		return nil, hint.New("links that lead out of a submission are not followed", "read the submission: %w", err)
	case !info.IsDir():
		return nil, hint.New(shape, "%s of the submission is no folder", base)
	}
	in := &intake{root: root, ch: ch, base: base, files: Files{}}
	for _, name := range ch.Files {
		if err := in.take(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if len(in.files) == 0 {
		return nil, hint.New(shape, "%s of the submission holds none of the chapter's files (%s)", base, strings.Join(ch.Files, ", "))
	}
	if err := in.walk("."); err != nil {
		return nil, err
	}
	return in.files, nil
}

// intake reads a submission within its bounds.
type intake struct {
	root  *os.Root
	ch    *course.Chapter
	base  string // the chapter's folder in root
	files Files

	total, added, entries int
}

// walk takes the Go files that the learner added in a folder of the chapter and
// below. It follows no links.
func (in *intake) walk(dir string) error {
	d, err := in.root.Open(path.Join(in.base, dir))
	if err != nil {
		return in.fail(dir, err)
	}
	// One more than there may be: a folder of a million files is not read whole.
	entries, err := d.ReadDir(maxEntries + 1)
	d.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return in.fail(dir, err)
	}
	if in.entries += len(entries); in.entries > maxEntries {
		return hint.New("hand in the learner's files only", "%s of the submission holds more than %d files", in.base, maxEntries)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			if _, err := in.root.Stat(path.Join(in.base, name, "go.mod")); err != nil && !skippedDir(e.Name()) {
				if err := in.walk(name); err != nil {
					return err
				}
			}
			continue
		}
		if _, listed := in.files[name]; listed || !theirs(e) || given(in.ch, name) {
			continue
		}
		if in.added++; in.added > maxAdded {
			return hint.New("hand in the learner's files only", "%s of the submission holds more than %d added Go files", in.base, maxAdded)
		}
		if err := in.take(name); err != nil {
			return err
		}
	}
	return nil
}

// take reads one file. Where the error is fs.ErrNotExist there is none.
func (in *intake) take(name string) error {
	shown := path.Join(in.base, name)
	// A pipe without a writer would hold an open for ever.
	f, err := in.root.OpenFile(filepath.FromSlash(shown), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return in.fail(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return in.fail(name, err)
	}
	if !info.Mode().IsRegular() {
		return hint.New("hand in plain files", "%s of the submission is no plain file", shown)
	}
	// Not by the size it says: the file may grow while it is read.
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return in.fail(name, err)
	}
	if len(data) > maxFile {
		return hint.New("hand in source code only", "%s of the submission is larger than %d KiB", shown, maxFile>>10)
	}
	if in.total += len(data); in.total > maxTotal {
		return hint.New("hand in source code only", "%s of the submission holds more than %d KiB of Go files", in.base, maxTotal>>10)
	}
	in.files[name] = File{data, shown}
	return nil
}

func (in *intake) fail(name string, err error) error {
	shown := path.Join(in.base, name)
	// os.Root's own error for this has no name.
	if strings.Contains(err.Error(), "escapes from parent") {
		return hint.New("hand in the file itself", "%s of the submission is a link that leads out of it", shown)
	}
	return fmt.Errorf("read %s of the submission: %w", shown, err)
}
