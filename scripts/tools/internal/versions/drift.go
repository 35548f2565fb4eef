package versions

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// Check finds every go.mod that has left the list: another Go version, another
// version of something listed, two versions of one dependency in the workspace,
// Kubernetes built from another release than the libraries, or a go.mod that
// go mod tidy would change.
func Check(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	list, err := Read(r)
	if err != nil {
		return nil, err
	}
	members, err := r.Workspace()
	if err != nil {
		return nil, err
	}
	outside, err := r.OutsideModules()
	if err != nil {
		return nil, err
	}
	found := list.kubernetes()

	type use struct{ version, file string }
	first := map[string]use{} // in the workspace
	for _, dir := range slices.Concat(members, outside) {
		name := path.Join(dir, "go.mod")
		data, err := os.ReadFile(r.Path(name))
		if err != nil {
			return nil, err
		}
		f, err := modfile.Parse(name, data, nil)
		if err != nil {
			return nil, err
		}
		found = append(found, list.drift(name, f, !slices.Contains(members, dir))...)
		if !slices.Contains(members, dir) {
			if repo.Outside(dir) == "" {
				found = append(found, repo.Finding{Path: name, Text: "is not in go.work: run scripts/update/gowork"})
			}
			continue
		}
		for _, req := range f.Require {
			was, seen := first[req.Mod.Path]
			if !seen {
				first[req.Mod.Path] = use{req.Mod.Version, name}
			} else if was.version != req.Mod.Version {
				found = append(found, repo.Finding{Path: name, Line: req.Syntax.Start.Line,
					Text: fmt.Sprintf("%s %s, but %s in %s", req.Mod.Path, req.Mod.Version, was.version, was.file)})
			}
		}
	}
	// scripts/verify/gomod tidies the members.
	for _, dir := range outside {
		if out, err := repo.Go(ctx, r.Path(dir), "mod", "tidy", "-diff"); err != nil {
			found = append(found, repo.Finding{Path: path.Join(dir, "go.mod"),
				Text: fmt.Sprintf("is not tidy: run GOWORK=off go mod tidy -C %s\n%s%v", dir, out, err)})
		}
	}
	return found, nil
}

// drift compares one go.mod with the list.
func (l List) drift(name string, f *modfile.File, outside bool) []repo.Finding {
	var found []repo.Finding
	wantGo := cmp.Or(l.GoOf[path.Dir(name)], l.Go)
	if f.Go == nil || f.Go.Version != wantGo {
		v := "no go line"
		if f.Go != nil {
			v = "go " + f.Go.Version
		}
		found = append(found, repo.Finding{Path: name, Text: fmt.Sprintf("%s, but go %s in %s", v, wantGo, File)})
	}
	if f.Toolchain != nil {
		found = append(found, repo.Finding{Path: name, Line: f.Toolchain.Syntax.Start.Line,
			Text: "a toolchain line would download another Go"})
	}
	replaced := map[string]bool{}
	for _, rep := range f.Replace {
		replaced[rep.Old.Path] = true
		if rep.New.Version == "" {
			continue // a folder
		}
		if want, ok := l.want(rep.New.Path); ok && rep.New.Version != want {
			found = append(found, repo.Finding{Path: name, Line: rep.Syntax.Start.Line,
				Text: fmt.Sprintf("%s is replaced by %s, but %s in %s", rep.Old.Path, rep.New.Version, want, File)})
		}
	}
	for _, req := range f.Require {
		if replaced[req.Mod.Path] {
			continue
		}
		// What Kubernetes or a linter needs below itself is their choice.
		if outside && req.Indirect && !strings.HasPrefix(req.Mod.Path, "k8s.io/") && !isTool(f, req.Mod.Path) {
			continue
		}
		if want, ok := l.want(req.Mod.Path); ok && req.Mod.Version != want {
			found = append(found, repo.Finding{Path: name, Line: req.Syntax.Start.Line,
				Text: fmt.Sprintf("%s %s, but %s in %s", req.Mod.Path, req.Mod.Version, want, File)})
		}
	}
	return found
}

// isTool says whether a tool of the go.mod comes from the module.
func isTool(f *modfile.File, mod string) bool {
	return slices.ContainsFunc(f.Tool, func(t *modfile.Tool) bool { return strings.HasPrefix(t.Path+"/", mod+"/") })
}

// Modules under k8s.io that are released on their own, not with Kubernetes.
var ownRelease = []string{"k8s.io/klog/", "k8s.io/kube-openapi", "k8s.io/utils", "k8s.io/gengo", "k8s.io/system-validators"}

// want returns the version that a module must have. A library of Kubernetes that
// is not listed has client-go's.
func (l List) want(mod string) (string, bool) {
	if v, ok := l.Modules[mod]; ok {
		return v, true
	}
	if !strings.HasPrefix(mod, "k8s.io/") || slices.ContainsFunc(ownRelease, func(p string) bool { return strings.HasPrefix(mod, p) }) {
		return "", false
	}
	v, ok := l.Modules["k8s.io/client-go"]
	return v, ok
}

// kubernetes says whether the listed libraries are those of the listed Kubernetes:
// v0.37.2 belongs to v1.37.2.
func (l List) kubernetes() []repo.Finding {
	lib, k8s := l.Modules["k8s.io/client-go"], l.Modules["k8s.io/kubernetes"]
	if strings.TrimPrefix(lib, "v0.") == strings.TrimPrefix(k8s, "v1.") {
		return nil
	}
	return []repo.Finding{{Path: File, Text: fmt.Sprintf("k8s.io/client-go %s is not the library of k8s.io/kubernetes %s", lib, k8s)}}
}
