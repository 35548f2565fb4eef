package versions

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"

	"github.com/controllings/controllings/scripts/tools/internal/tree"
)

func TestParse(t *testing.T) {
	l, err := Parse("# a comment\ngo 1.26.0\ngo 1.26.6 scripts/x\n\nexample.com/a v1.2.3 # why\n")
	require.NoError(t, err)
	require.Equal(t, List{Go: "1.26.0", GoOf: map[string]string{"scripts/x": "1.26.6"},
		Modules: map[string]string{"example.com/a": "v1.2.3"}}, l)

	for text, want := range map[string]string{
		"example.com/a v1.0.0":                                  `scripts/versions: no line "go VERSION"`,
		"go 1.26.0\ngo 1.26.6 testbed":                          `scripts/versions:2: want MODULE VERSION, not "go 1.26.6 testbed"`,
		"go 1.26.0\nexample.com/a":                              `scripts/versions:2: want MODULE VERSION, not "example.com/a"`,
		"go 1.26.0\nexample.com/a latest":                       `scripts/versions:2: "latest" is no version`,
		"go 1.26.0\nexample.com/a v1.0.0\nexample.com/a v1.0.0": `scripts/versions:3: example.com/a is listed twice`,
	} {
		_, err := Parse(text)
		require.EqualError(t, err, want)
	}
}

func TestDrift(t *testing.T) {
	list := List{Go: "1.26.0", Modules: map[string]string{
		"k8s.io/client-go": "v0.37.2", "k8s.io/kubernetes": "v1.37.2", "example.com/a": "v1.2.3"}}
	for name, c := range map[string]struct {
		mod     string
		outside bool
		want    []string
	}{
		"as listed":              {"go 1.26.0\nrequire k8s.io/client-go v0.37.2", false, nil},
		"another Go":             {"go 1.25.0", false, []string{"go.mod: go 1.25.0, but go 1.26.0 in scripts/versions"}},
		"no Go":                  {"", false, []string{"go.mod: no go line, but go 1.26.0 in scripts/versions"}},
		"a toolchain":            {"go 1.26.0\ntoolchain go1.26.8", false, []string{"go.mod:3: a toolchain line would download another Go"}},
		"another version":        {"go 1.26.0\nrequire example.com/a v1.2.4", false, []string{"go.mod:3: example.com/a v1.2.4, but v1.2.3 in scripts/versions"}},
		"indirect":               {"go 1.26.0\nrequire example.com/a v1.2.4 // indirect", false, []string{"go.mod:3: example.com/a v1.2.4, but v1.2.3 in scripts/versions"}},
		"indirect, outside":      {"go 1.26.0\nrequire example.com/a v1.2.4 // indirect", true, nil},
		"a tool, outside":        {"go 1.26.0\ntool example.com/a/cmd/x\nrequire example.com/a v1.2.4 // indirect", true, []string{"go.mod:4: example.com/a v1.2.4, but v1.2.3 in scripts/versions"}},
		"a library not listed":   {"go 1.26.0\nrequire k8s.io/kubelet v0.37.1 // indirect", true, []string{"go.mod:3: k8s.io/kubelet v0.37.1, but v0.37.2 in scripts/versions"}},
		"a release of its own":   {"go 1.26.0\nrequire k8s.io/klog/v2 v2.140.0", true, nil},
		"a replace":              {"go 1.26.0\nrequire k8s.io/api v0.0.0\nreplace k8s.io/api => k8s.io/api v0.37.1", true, []string{"go.mod:4: k8s.io/api is replaced by v0.37.1, but v0.37.2 in scripts/versions"}},
		"a replace as it should": {"go 1.26.0\nrequire k8s.io/api v0.0.0\nreplace k8s.io/api => k8s.io/api v0.37.2", true, nil},
		"a folder":               {"go 1.26.0\nrequire k8s.io/api v0.0.0\nreplace k8s.io/api => ../api", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := modfile.Parse("go.mod", []byte("module x\n"+c.mod), nil)
			require.NoError(t, err)
			require.Equal(t, c.want, tree.Lines(list.drift("go.mod", f, c.outside)))
		})
	}
}

func TestDriftOfAFolderWithAnotherGo(t *testing.T) {
	list := List{Go: "1.26.0", GoOf: map[string]string{"scripts/x": "1.26.6"}}
	f, err := modfile.Parse("go.mod", []byte("module x\ngo 1.26.6"), nil)
	require.NoError(t, err)
	require.Empty(t, list.drift("scripts/x/go.mod", f, true))
	require.Equal(t, []string{"scripts/y/go.mod: go 1.26.6, but go 1.26.0 in scripts/versions"},
		tree.Lines(list.drift("scripts/y/go.mod", f, true)))
}

func TestKubernetes(t *testing.T) {
	l := List{Modules: map[string]string{"k8s.io/client-go": "v0.37.2", "k8s.io/kubernetes": "v1.37.2"}}
	require.Empty(t, l.kubernetes())
	l.Modules["k8s.io/kubernetes"] = "v1.37.3"
	require.Len(t, l.kubernetes(), 1)
}

func TestCheckComparesTheMembers(t *testing.T) {
	r := tree.New(t, `
-- go.work --
go 1.26.0
use (
	./a
	./b
)
-- a/go.mod --
module a
go 1.26.0
require example.com/x v1.0.0
-- b/go.mod --
module b
go 1.26.0
require example.com/x v1.1.0 // indirect
-- c/go.mod --
module c
go 1.26.0
`)
	found, err := Check(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, []string{
		"b/go.mod:3: example.com/x v1.1.0, but v1.0.0 in a/go.mod",
		"c/go.mod: is not in go.work: run scripts/update/gowork",
	}, tree.Lines(found))
}
