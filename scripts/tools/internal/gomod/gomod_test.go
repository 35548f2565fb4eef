package gomod

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
	"github.com/controllings/controllings/scripts/tools/internal/tree"
)

const course = `
-- scripts/versions --
go 1.26.0
example.com/client v1.2.0
example.com/client/v2 v2.0.1
example.com/checks v1.0.0
example.com/unused v1.0.0
-- go.work --
go 1.26.0
use (
	./chapters/01-a
	./solutions/01-a
	./testbed
	./todo
)
-- todo/go.mod --
module github.com/controllings/controllings/todo
go 1.25.0
-- todo/todo.go --
package todo
-- testbed/go.mod --
module github.com/controllings/controllings/testbed
go 1.26.0
toolchain go1.26.8
require example.com/client v1.1.0
-- testbed/testbed.go --
package testbed

import _ "example.com/client/rest"
-- chapters/01-a/go.mod --
module x
-- chapters/01-a/a.go --
package a

import _ "github.com/controllings/controllings/todo"
-- chapters/01-a/a_test.go --
package a_test

import (
	_ "example.com/checks"
	_ "github.com/controllings/controllings/chapters/01-a"
	_ "github.com/controllings/controllings/testbed"
)
-- solutions/01-a/go.mod --
module x
-- solutions/01-a/a.go --
package a

import (
	"context"

	_ "example.com/client/rest"
)
-- solutions/01-a/alternatives/other.patch --
Title: another library
--- a/a.go
+++ b/a.go
@@ -1 +1 @@
+	apply "example.com/client/v2/apply"
-	"example.com/removed"
`

// keepAsItIs stands in for what would ask the network.
func keepAsItIs(t *testing.T) {
	was, list := tidyCommand, buildList
	t.Cleanup(func() { tidyCommand, buildList = was, list })
	buildList = func(_ context.Context, dir string) (map[string]string, error) {
		return map[string]string{}, os.WriteFile(filepath.Join(dir, "go.work.sum"), []byte("sums\n"), 0o644)
	}
	tidyCommand = func(_ context.Context, dir string) error {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		return err
	}
}

func TestFiles(t *testing.T) {
	keepAsItIs(t)
	r := tree.New(t, course)
	files, err := Files(t.Context(), r)
	require.NoError(t, err)
	got := map[string]string{}
	for _, f := range files {
		got[f.Path] = string(f.Data)
	}

	require.Equal(t, "module github.com/controllings/controllings/todo\n\ngo 1.26.0\n", got["todo/go.mod"])
	require.Equal(t, "module github.com/controllings/controllings/testbed\n\ngo 1.26.0\n\nrequire example.com/client v1.2.0\n", got["testbed/go.mod"])

	require.Equal(t, "sums\n", got["go.work.sum"])
	for _, dir := range []string{"chapters/01-a", "solutions/01-a"} {
		f, err := modfile.Parse("go.mod", []byte(got[dir+"/go.mod"]), nil)
		require.NoError(t, err)
		require.Equal(t, repo.Module+"/"+dir, f.Module.Mod.Path)
		require.Equal(t, "1.26.0", f.Go.Version)
		need := map[string]string{}
		for _, req := range f.Require {
			need[req.Mod.Path] = req.Mod.Version
		}
		require.Equal(t, map[string]string{
			repo.Module + "/testbed": "v0.0.0",
			repo.Module + "/todo":    "v0.0.0",
			"example.com/checks":     "v1.0.0",
			"example.com/client":     "v1.2.0",
			"example.com/client/v2":  "v2.0.1",
		}, need)
		require.Len(t, f.Replace, 2)
		require.Equal(t, "../../testbed", f.Replace[0].New.Path)

		require.Contains(t, got[dir+"/deps.go"], `package a

import (
	_ "example.com/checks"
	_ "example.com/client/rest"
	_ "example.com/client/v2/apply"
	_ "github.com/controllings/controllings/testbed"
	_ "github.com/controllings/controllings/todo"
)
`)
	}

	// Nothing is written while it is computed; what is written is stable.
	same, err := os.ReadFile(r.Path("chapters/01-a/go.mod"))
	require.NoError(t, err)
	require.Equal(t, "module x\n", string(same))
	require.NoError(t, r.Write(t.Output(), files))
	again, err := Files(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, files, again)
}

func TestWhatIsNotListed(t *testing.T) {
	keepAsItIs(t)
	r := tree.New(t, course)
	tree.Write(t, r.Root, "-- solutions/01-a/b.go --\npackage a\n\nimport _ \"example.com/new/pkg\"\n")
	_, err := Files(t.Context(), r)
	require.ErrorContains(t, err, "example.com/new/pkg is imported, and no module of scripts/versions holds it")
}

func TestSyncRaisesWhatIsIndirect(t *testing.T) {
	keepAsItIs(t)
	r := tree.New(t, course)
	// As tidy would leave it, where one member's dependencies ask for more.
	first := map[string]bool{}
	tidyCommand = func(_ context.Context, dir string) error {
		name := filepath.Base(dir)
		if v, ok := map[string]string{"todo": "v1.0.0", "testbed": "v1.3.0"}[name]; ok && !first[name] {
			first[name] = true
			tree.Write(t, dir, "-- go.mod --\nmodule github.com/controllings/controllings/"+name+"\ngo 1.26.0\nrequire example.com/deep "+v+" // indirect\n")
		}
		return nil
	}
	buildList = func(context.Context, string) (map[string]string, error) {
		return map[string]string{"example.com/deep": "v1.3.0", "example.com/other": "v2.0.0"}, nil
	}
	files, err := Files(t.Context(), r)
	require.NoError(t, err)
	for _, f := range files {
		if f.Path == "todo/go.mod" {
			require.Contains(t, string(f.Data), "require example.com/deep v1.3.0 // indirect")
		}
	}
}

func TestALeftoverOfGoGetGoes(t *testing.T) {
	keepAsItIs(t)
	r := tree.New(t, course)
	tree.Write(t, r.Root, "-- todo/go.mod --\nmodule github.com/controllings/controllings/todo\ngo 1.26.0\nrequire example.com/deep v1.9.0 // indirect\n")
	files, err := Files(t.Context(), r)
	require.NoError(t, err)
	for _, f := range files {
		if f.Path == "todo/go.mod" {
			require.NotContains(t, string(f.Data), "example.com/deep")
		}
	}
}

func TestAVersionBeyondTheList(t *testing.T) {
	keepAsItIs(t)
	r := tree.New(t, course)
	tree.Write(t, r.Root, "-- todo/go.mod --\nmodule github.com/controllings/controllings/todo\ngo 1.26.0\nrequire example.com/unused v1.1.0\n")
	// As tidy would leave it if a dependency asked for more than is listed.
	tidyCommand = func(_ context.Context, dir string) error {
		if filepath.Base(dir) == "todo" {
			tree.Write(t, dir, "-- go.mod --\nmodule github.com/controllings/controllings/todo\ngo 1.26.0\nrequire example.com/unused v1.1.0\n")
		}
		return nil
	}
	_, err := Files(t.Context(), r)
	require.ErrorContains(t, err, "todo: something needs example.com/unused v1.1.0, and scripts/versions lists v1.0.0: list the newer")
}
