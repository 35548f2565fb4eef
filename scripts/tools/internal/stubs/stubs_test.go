package stubs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/scripts/tools/internal/stubs"
	"github.com/controllings/controllings/scripts/tools/internal/tree"
)

const course = `
-- chapters/01-a/chapter.yaml --
files: [a.go, sub/b.go, role.yaml]
-- chapters/01-a/a.go --
package a

func One() int { return 7 } // the learner's
-- solutions/01-a/a.go --
package a

func One() int { return 1 }
-- solutions/01-a/sub/b.go --
package b

import _ "github.com/controllings/controllings/solutions/01-a/sub/c"
-- solutions/01-a/role.yaml --
rules: [{verbs: [get]}]
-- solutions/01-a/stub.patch --
--- a/a.go
+++ b/a.go
@@ -1,3 +1,3 @@
 package a
 
-func One() int { return 1 }
+func One() int { panic(todo.Step("1.1")) }
--- a/role.yaml
+++ b/role.yaml
@@ -1 +1 @@
-rules: [{verbs: [get]}]
+rules: []
`

func TestFiles(t *testing.T) {
	r := tree.New(t, course)
	files, err := stubs.Files(t.Context(), r)
	require.NoError(t, err)
	got := map[string]string{}
	for _, f := range files {
		got[f.Path] = string(f.Data)
	}
	require.Equal(t, map[string]string{
		"chapters/01-a/a.go":      "package a\n\nfunc One() int { panic(todo.Step(\"1.1\")) }\n",
		"chapters/01-a/sub/b.go":  "package b\n\nimport _ \"github.com/controllings/controllings/chapters/01-a/sub/c\"\n",
		"chapters/01-a/role.yaml": "rules: []\n",
	}, got)

	drift, err := r.Drift(files)
	require.NoError(t, err)
	lines := tree.Lines(drift)
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], "-func One() int { return 7 } // the learner's\n+func One() int { panic(todo.Step(\"1.1\")) }\n")
	require.Equal(t, "chapters/01-a/sub/b.go: is missing", lines[1])

	require.NoError(t, r.Write(t.Output(), files))
	drift, err = r.Drift(files)
	require.NoError(t, err)
	require.Empty(t, drift)
}

func TestAPatchThatNoLongerApplies(t *testing.T) {
	r := tree.New(t, course)
	tree.Write(t, r.Root, "-- solutions/01-a/a.go --\npackage a\n\nfunc One() int { return 2 }\n")
	_, err := stubs.Files(t.Context(), r)
	require.ErrorContains(t, err, "chapter 01-a: stub.patch doesn't apply to the solution")
}
