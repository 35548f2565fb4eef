// Package course knows the course's checkout: where it is, which chapters it
// has, in which order, and what each chapter.yaml says.
package course

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/controllings/controllings/runner/internal/hint"
)

// Course is a checkout of the course.
type Course struct {
	Root string // absolute; holds go.work and chapters/
	Home string // what the runner keeps: LAB_HOME, else Root/.lab
}

// Open finds the course around dir: the nearest folder upwards that holds both
// go.work and chapters/. LAB_ROOT and LAB_HOME, if not "", decide instead.
func Open(dir, labRoot, labHome string) (*Course, error) {
	root, err := findRoot(dir, labRoot)
	if err != nil {
		return nil, err
	}
	home := labHome
	if home == "" {
		home = filepath.Join(root, ".lab")
	}
	if home, err = filepath.Abs(home); err != nil {
		return nil, fmt.Errorf("find LAB_HOME: %w", err)
	}
	return &Course{Root: root, Home: home}, nil
}

func findRoot(dir, labRoot string) (string, error) {
	if labRoot != "" {
		root, err := filepath.Abs(labRoot)
		if err != nil {
			return "", fmt.Errorf("find LAB_ROOT: %w", err)
		}
		if !isRoot(root) {
			return "", hint.New("LAB_ROOT is the folder that holds go.work and chapters/; unset it to search upwards from here",
				"no course in LAB_ROOT=%q", labRoot)
		}
		return root, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the course: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if isRoot(at) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", hint.New("change into your clone of the course, or set LAB_ROOT to it",
				"no course found in %q or above it (no folder with go.work and chapters/)", dir)
		}
	}
}

func isRoot(dir string) bool {
	work, err := os.Stat(filepath.Join(dir, "go.work"))
	if err != nil || work.IsDir() {
		return false
	}
	chapters, err := os.Stat(filepath.Join(dir, "chapters"))
	return err == nil && chapters.IsDir()
}

// Rel is path as a person is told it: from the course's root, with slashes, or
// whole if it lies elsewhere.
func (c *Course) Rel(path string) string {
	rel, err := filepath.Rel(c.Root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return filepath.ToSlash(rel)
}

// topicDir is what a chapter's folder is called: 01-clientset.
var topicDir = regexp.MustCompile(`^([0-9]{2,})-([a-z0-9]+(?:-[a-z0-9]+)*)$`)

// IDs lists the chapters' folder names in the course's order.
func (c *Course) IDs() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(c.Root, "chapters"))
	if err != nil {
		return nil, fmt.Errorf("list the chapters: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && topicDir.MatchString(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		if d := number(a) - number(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return ids, nil
}

func number(id string) int {
	m := topicDir.FindStringSubmatch(id)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// Chapters reads every chapter, in order.
func (c *Course) Chapters() ([]*Chapter, error) {
	ids, err := c.IDs()
	if err != nil {
		return nil, err
	}
	var chapters []*Chapter
	for _, id := range ids {
		ch, err := c.load(id)
		if err != nil {
			return nil, err
		}
		chapters = append(chapters, ch)
	}
	return chapters, nil
}

// Chapter reads the chapter that a person named: 1, 01, clientset, 01-clientset,
// or its folder's path.
func (c *Course) Chapter(name string) (*Chapter, error) {
	ids, err := c.IDs()
	if err != nil {
		return nil, err
	}
	want := strings.TrimSuffix(filepath.ToSlash(name), "/")
	want = want[strings.LastIndex(want, "/")+1:]
	n, numErr := strconv.Atoi(want)
	for _, id := range ids {
		_, topic, _ := strings.Cut(id, "-")
		if id == want || topic == want || (numErr == nil && n == number(id)) {
			return c.load(id)
		}
	}
	return nil, hint.New("the chapters so far are "+list(ids)+"; README.md names those in preparation", "no chapter %q", name)
}

func list(ids []string) string {
	switch {
	case len(ids) == 0:
		return "none so far"
	case len(ids) > 6:
		return ids[0] + " to " + ids[len(ids)-1]
	default:
		return strings.Join(ids, ", ")
	}
}

// After is the chapter that follows ch, or nil. Only its folder is known: its
// chapter.yaml may be broken without harm to ch.
func (c *Course) After(ch *Chapter) *Chapter {
	ids, err := c.IDs()
	if err != nil {
		return nil
	}
	if i := slices.Index(ids, ch.ID); i >= 0 && i+1 < len(ids) {
		return c.folders(ids[i+1])
	}
	return nil
}
