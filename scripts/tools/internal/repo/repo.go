// Package repo knows how the course lies on disk: which modules there are, which
// chapters, which files git tracks. What verifies or writes something learns
// these here, so that no list is kept by hand anywhere.
package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Module is the prefix of every module's path.
const Module = "github.com/controllings/controllings"

// Repo is a checkout of the course.
type Repo struct {
	Root string // absolute
}

// Open returns the checkout at root.
func Open(root string) (*Repo, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(abs, "scripts", "versions")); err != nil {
		return nil, fmt.Errorf("not a checkout of the course: %w", err)
	}
	return &Repo{Root: abs}, nil
}

// Path returns the absolute path of a slash-separated path in the checkout.
func (r *Repo) Path(elem ...string) string {
	return filepath.Join(r.Root, filepath.FromSlash(path.Join(elem...)))
}

// Outside says why the module at dir (slash-separated) is no member of go.work,
// or "" if it is one.
func Outside(dir string) string {
	switch {
	case dir == "controlplane":
		return "a workspace would merge the dozens of replaces that Kubernetes needs into every module"
	case dir == "scripts" || strings.HasPrefix(dir, "scripts/"):
		return "tools of authors, with dependencies that no learner should fetch"
	}
	return ""
}

// AllModules returns the folders that hold a go.mod, sorted and slash-separated.
// testdata, vendor and hidden folders, bin and .lab are not looked into.
func (r *Repo) AllModules() ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(r.Root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != r.Root && SkipDir(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if d.Name() != "go.mod" {
			return nil
		}
		rel, err := filepath.Rel(r.Root, filepath.Dir(p))
		if err != nil {
			return err
		}
		dirs = append(dirs, filepath.ToSlash(rel))
		return nil
	})
	slices.Sort(dirs)
	return dirs, err
}

// SkipDir says whether a folder of that name never holds the course's own code.
func SkipDir(name string) bool {
	return name == "testdata" || name == "vendor" || name == "bin" ||
		strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// Workspace returns the members of go.work, slash-separated, in its order.
func (r *Repo) Workspace() ([]string, error) {
	data, err := os.ReadFile(r.Path("go.work"))
	if err != nil {
		return nil, err
	}
	w, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, u := range w.Use {
		dirs = append(dirs, path.Clean(u.Path))
	}
	return dirs, nil
}

// OutsideModules returns the modules that are not in go.work.
func (r *Repo) OutsideModules() ([]string, error) {
	all, err := r.AllModules()
	if err != nil {
		return nil, err
	}
	in, err := r.Workspace()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(d string) bool { return slices.Contains(in, d) }), nil
}

var chapterName = regexp.MustCompile(`^\d\d-[a-z0-9-]+$`)

// Chapters returns the names (01-clientset) of the chapters, sorted: every folder
// of that form under chapters or solutions.
func (r *Repo) Chapters() ([]string, error) {
	var names []string
	for _, parent := range []string{"chapters", "solutions"} {
		entries, err := os.ReadDir(r.Path(parent))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() && chapterName.MatchString(e.Name()) && !slices.Contains(names, e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// Files returns the files that git tracks or would add, slash-separated, sorted.
func (r *Repo) Files(ctx context.Context) ([]string, error) {
	out, err := Output(ctx, r.Root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	if err != nil {
		return nil, err
	}
	var files []string
	for f := range strings.SplitSeq(string(out), "\x00") {
		if f == "" {
			continue
		}
		// A file that is deleted but still in the index.
		if st, err := os.Lstat(r.Path(f)); err != nil || !st.Mode().IsRegular() {
			continue
		}
		files = append(files, f)
	}
	slices.Sort(files)
	return files, nil
}
