// Package gomod generates the go.mod and go.sum of every member of the workspace
// from scripts/versions and from what the code imports. A chapter and its
// solution get the same requirements: the union of what the solution, its
// patches, the stubs and the checks import.
//
// The work is done in a copy of the modules, so that verifying leaves the
// checkout as it is.
package gomod

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
	"github.com/controllings/controllings/scripts/tools/internal/versions"
)

// tidyCommand runs go mod tidy in dir. A variable, so that tests need no network.
var tidyCommand = func(ctx context.Context, dir string) error {
	_, err := repo.Go(ctx, dir, "mod", "tidy")
	return err
}

// buildList returns the versions that the workspace at dir selects, by module,
// and writes its go.work.sum. A variable, for the same reason.
var buildList = func(ctx context.Context, dir string) (map[string]string, error) {
	env := append(repo.GoEnv(), "GOWORK="+filepath.Join(dir, "go.work"))
	out, err := repo.Output(ctx, dir, env, "go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "all")
	if err != nil {
		return nil, err
	}
	list := map[string]string{}
	for line := range strings.SplitSeq(string(out), "\n") {
		if m, v, ok := strings.Cut(line, " "); ok && v != "" {
			list[m] = v
		}
	}
	return list, nil
}

// Files returns every go.mod, go.sum and deps.go, and go.work.sum, as they should be.
func Files(ctx context.Context, r *repo.Repo) ([]repo.File, error) {
	list, err := versions.Read(r)
	if err != nil {
		return nil, err
	}
	members, err := r.Workspace()
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "controllings-gomod-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)

	g := generator{repo: r, tmp: tmp, list: list, members: members, want: map[string][]byte{}}
	for _, dir := range members {
		if err := g.stage(dir); err != nil {
			return nil, err
		}
	}
	// First those that others build on: a chapter would take over what is stale
	// in testbed.
	byHand, chapters := g.split()
	for _, dir := range byHand {
		if err := g.edit(dir, g.pin); err != nil {
			return nil, err
		}
	}
	for _, dir := range byHand {
		if err := g.tidy(ctx, dir); err != nil {
			return nil, err
		}
	}
	for _, dir := range chapters {
		if err := g.generate(ctx, dir); err != nil {
			return nil, err
		}
	}
	if err := g.sync(ctx); err != nil {
		return nil, err
	}
	if err := g.listed(); err != nil {
		return nil, err
	}
	return g.files()
}

type generator struct {
	repo    *repo.Repo
	tmp     string // the copy
	list    versions.List
	members []string
	want    map[string][]byte // deps.go by path
}

// isChapter says whether the module is generated as a whole.
func isChapter(dir string) bool {
	return strings.HasPrefix(dir, "chapters/") || strings.HasPrefix(dir, "solutions/")
}

// split returns the members whose requirements are written by hand, and the others.
func (g *generator) split() (byHand, chapters []string) {
	for _, dir := range g.members {
		if isChapter(dir) {
			chapters = append(chapters, dir)
		} else {
			byHand = append(byHand, dir)
		}
	}
	return byHand, chapters
}

// stage copies the module's Go files, go.mod and go.sum.
func (g *generator) stage(dir string) error {
	files, err := sources(g.repo.Path(dir))
	if err != nil {
		return err
	}
	for _, f := range append(files, "go.mod", "go.sum") {
		data, err := os.ReadFile(filepath.Join(g.repo.Path(dir), f))
		if errors.Is(err, fs.ErrNotExist) && f == "go.sum" {
			continue
		}
		if err != nil {
			return err
		}
		to := filepath.Join(g.tmp, dir, f)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate writes the go.mod of a chapter or a solution and tidies it.
func (g *generator) generate(ctx context.Context, dir string) error {
	imports, err := g.imports(dir)
	if err != nil {
		return err
	}
	if err := g.writeDeps(dir, imports); err != nil {
		return err
	}
	direct, err := g.providers(imports)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if err := g.write(dir, g.fresh(dir, direct)); err != nil {
		return err
	}
	return g.tidy(ctx, dir)
}

// providers returns the listed modules that the packages are in.
func (g *generator) providers(imports []string) (map[string]string, error) {
	found := map[string]string{}
	var errs []error
	for _, pkg := range imports {
		if strings.HasPrefix(pkg, repo.Module+"/") {
			continue
		}
		// The longest path wins: k8s.io/klog/v2 before k8s.io/klog.
		mod := pkg
		for mod != "." && g.list.Modules[mod] == "" {
			mod = path.Dir(mod)
		}
		if mod == "." {
			errs = append(errs, fmt.Errorf("%s is imported, and no module of %s holds it: add \"MODULE VERSION\" there", pkg, versions.File))
			continue
		}
		found[mod] = g.list.Modules[mod]
	}
	return found, errors.Join(errs...)
}

// imports returns what the modules of a chapter and its solution must have.
func (g *generator) imports(dir string) ([]string, error) {
	name := path.Base(dir)
	// Every chapter has both, whether or not a step uses them today.
	all := []string{repo.Module + "/testbed", repo.Module + "/todo"}
	for _, from := range []string{"solutions", "chapters"} {
		found, err := imports(g.repo.Path(from, name))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	found, err := patchImports(g.repo.Path("solutions", name))
	if err != nil {
		return nil, err
	}
	return tidy(append(all, found...)), nil
}

// writeDeps writes the deps.go of a chapter or a solution into the copy.
func (g *generator) writeDeps(dir string, imports []string) error {
	pkg, err := packageName(g.repo.Path("solutions", path.Base(dir)))
	if err != nil {
		return err
	}
	data := deps(pkg, imports)
	g.want[path.Join(dir, depsFile)] = data
	return os.WriteFile(filepath.Join(g.tmp, dir, depsFile), data, 0o644)
}

// fresh returns the go.mod of a chapter or a solution.
func (g *generator) fresh(dir string, modules map[string]string) *modfile.File {
	f := new(modfile.File)
	must(f.AddModuleStmt(path.Join(repo.Module, dir)))
	must(f.AddGoStmt(g.list.Go))
	for _, own := range []string{"testbed", "todo"} {
		m := path.Join(repo.Module, own)
		must(f.AddRequire(m, "v0.0.0"))
		must(f.AddReplace(m, "", "../../"+own, ""))
	}
	for m, v := range modules {
		f.AddNewRequire(m, v, false)
	}
	f.Cleanup()
	f.SortBlocks()
	return f
}

// pin sets the Go version and the listed versions in a module written by hand.
// What is indirect goes: tidy finds it again, at the lowest version that serves,
// so that nothing remains of a go get somewhere.
func (g *generator) pin(f *modfile.File) {
	must(f.AddGoStmt(g.list.Go))
	f.DropToolchainStmt()
	for _, req := range slices.Clone(f.Require) {
		if req.Indirect {
			must(f.DropRequire(req.Mod.Path))
			continue
		}
		if v, ok := g.list.Modules[req.Mod.Path]; ok && v != req.Mod.Version {
			must(f.AddRequire(req.Mod.Path, v))
		}
	}
}

// sync raises the members' requirements to what the workspace selects, as go
// work sync would: a chapter must be built from the same packages with and
// without go.work, or all of client-go is compiled twice.
func (g *generator) sync(ctx context.Context) error {
	data, err := os.ReadFile(g.repo.Path("go.work"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(g.tmp, "go.work"), data, 0o644); err != nil {
		return err
	}
	for range 5 {
		selected, err := buildList(ctx, g.tmp)
		if err != nil {
			return err
		}
		maps.Copy(selected, g.atLeast(selected))
		changed := false
		for _, dir := range g.members {
			f, err := g.read(dir)
			if err != nil {
				return err
			}
			raised := false
			for _, req := range slices.Clone(f.Require) {
				if v := selected[req.Mod.Path]; semver.Compare(v, req.Mod.Version) > 0 {
					raised = true
					must(f.AddRequire(req.Mod.Path, v))
				}
			}
			if !raised {
				continue
			}
			changed = true
			if err := g.write(dir, f); err != nil {
				return err
			}
			if err := g.tidy(ctx, dir); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		// Written anew for what is selected now.
		if err := os.RemoveAll(filepath.Join(g.tmp, "go.work.sum")); err != nil {
			return err
		}
	}
	return errors.New("the members' requirements don't settle on one version of each module")
}

// atLeast returns what the list asks for beyond what is selected.
func (g *generator) atLeast(selected map[string]string) map[string]string {
	more := map[string]string{}
	for m, v := range g.list.Modules {
		if semver.Compare(v, selected[m]) > 0 {
			more[m] = v
		}
	}
	return more
}

// listed fails if a direct requirement is not on the list, or not as listed.
func (g *generator) listed() error {
	var errs []error
	for _, dir := range g.members {
		f, err := g.read(dir)
		if err != nil {
			return err
		}
		for _, req := range f.Require {
			m := req.Mod
			if strings.HasPrefix(m.Path, repo.Module+"/") {
				continue
			}
			switch v, ok := g.list.Modules[m.Path]; {
			case !ok && !req.Indirect:
				errs = append(errs, fmt.Errorf("%s: %s is imported and not in %s: add \"%s %s\" there", dir, m.Path, versions.File, m.Path, m.Version))
			case ok && v != m.Version:
				errs = append(errs, fmt.Errorf("%s: something needs %s %s, and %s lists %s: list the newer", dir, m.Path, m.Version, versions.File, v))
			}
		}
	}
	return errors.Join(errs...)
}

// files collects what the copy now holds.
func (g *generator) files() ([]repo.File, error) {
	var files []repo.File
	for _, dir := range g.members {
		for _, name := range []string{"go.mod", "go.sum"} {
			data, err := os.ReadFile(filepath.Join(g.tmp, dir, name))
			if errors.Is(err, fs.ErrNotExist) && name == "go.sum" {
				data, err = nil, nil
			}
			if err != nil {
				return nil, err
			}
			if name == "go.sum" && len(bytes.TrimSpace(data)) == 0 {
				data = nil
			}
			files = append(files, repo.File{Path: path.Join(dir, name), Data: data})
		}
		if isChapter(dir) {
			p := path.Join(dir, depsFile)
			files = append(files, repo.File{Path: p, Data: g.want[p]})
		}
	}
	// The sums that the members need together and that none has alone. Without
	// them the first go test in a clone would write the file.
	data, err := os.ReadFile(filepath.Join(g.tmp, "go.work.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return append(files, repo.File{Path: "go.work.sum", Data: data}), nil
}

// edit changes the copy's go.mod.
func (g *generator) edit(dir string, change func(*modfile.File)) error {
	f, err := g.read(dir)
	if err != nil {
		return err
	}
	change(f)
	return g.write(dir, f)
}

func (g *generator) tidy(ctx context.Context, dir string) error {
	if err := tidyCommand(ctx, filepath.Join(g.tmp, dir)); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

func (g *generator) read(dir string) (*modfile.File, error) {
	p := filepath.Join(g.tmp, dir, "go.mod")
	data, err := os.ReadFile(p)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(path.Join(dir, "go.mod"), data, nil)
}

func (g *generator) write(dir string, f *modfile.File) error {
	f.Cleanup()
	data, err := f.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(g.tmp, dir, "go.mod"), data, 0o644)
}

// must is for edits that fail only on malformed constants.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
