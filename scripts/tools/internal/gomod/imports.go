package gomod

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// sources returns the Go files of the module at dir, relative to it. Nested
// modules and testdata are left out, as Go does.
func sources(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p == dir {
				return nil
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil || repo.SkipDir(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(p, ".go") {
			rel, err := filepath.Rel(dir, p)
			if err != nil {
				return err
			}
			files = append(files, rel)
		}
		return nil
	})
	return files, err
}

// imports returns the packages that the Go files of dir import: neither the
// standard library's nor those of a chapter or a solution. deps.go is no source.
func imports(dir string) ([]string, error) {
	files, err := sources(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, f := range files {
		if f == depsFile {
			continue
		}
		ast, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, f), nil, parser.ImportsOnly)
		if err != nil {
			return nil, fmt.Errorf("read the imports of %s: %w", filepath.Join(dir, f), err)
		}
		for _, spec := range ast.Imports {
			if p, err := strconv.Unquote(spec.Path.Value); err == nil && foreign(p) {
				found = append(found, p)
			}
		}
	}
	return tidy(found), nil
}

// A line that a patch adds and that is an import, alone or in parentheses.
var addedImport = regexp.MustCompile(`(?m)^\+\s*(?:import\s+)?(?:[\w.]+\s+)?"([^"\s]+)"\s*(?://.*)?$`)

// patchImports returns the packages that the patches of a solution add: an
// alternative may use a library that the solution doesn't.
func patchImports(solution string) ([]string, error) {
	var found []string
	for _, pattern := range []string{"*.patch", "mistakes/*.patch", "alternatives/*.patch"} {
		patches, err := filepath.Glob(filepath.Join(solution, pattern))
		if err != nil {
			return nil, err
		}
		for _, p := range patches {
			data, err := os.ReadFile(p)
			if err != nil {
				return nil, err
			}
			for _, m := range addedImport.FindAllStringSubmatch(string(data), -1) {
				if foreign(m[1]) {
					found = append(found, m[1])
				}
			}
		}
	}
	return tidy(found), nil
}

// foreign says whether the package lies outside the standard library and outside
// the chapters: only those must be required.
func foreign(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return strings.Contains(first, ".") &&
		!strings.HasPrefix(pkg, repo.Module+"/chapters/") &&
		!strings.HasPrefix(pkg, repo.Module+"/solutions/")
}

func tidy(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}
