package links

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/scripts/tools/internal/tree"
)

func TestCheck(t *testing.T) {
	r := tree.New(t, `
-- README.md --
[the lesson](chapters/01-a/README.md#selectors), [gone](gone.md), [here](#here), [out](https://example.com/x#y)
`+"`[code](gone.md)`"+`
`+"```"+`
[fenced](gone.md)
# Here
`+"```"+`
-- chapters/01-a/README.md --
## Selectors
-- chapters/01-a/a_test.go --
var good = testbed.Fail{See: "README.md#selectors"}
var bad = testbed.Fail{See: "README.md#selector"}
`)
	require.NoError(t, exec.Command("git", "init", "-q", r.Root).Run())
	found, err := Check(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, []string{
		"README.md:1: gone.md: no such file",
		"README.md:1: #here: no such heading in README.md",
		"chapters/01-a/a_test.go:2: README.md#selector: no such heading in chapters/01-a/README.md",
	}, tree.Lines(found))
}

func TestAnchors(t *testing.T) {
	a := anchors("# What `List` does, and why\n## Twice\n## Twice\n<a id=\"step-12\"></a>\n> ### Step 1.2 · Ask for less\n## [Linked](x.md) ##\n")
	for _, want := range []string{"what-list-does-and-why", "twice", "twice-1", "step-12", "step-12--ask-for-less", "linked"} {
		require.Contains(t, a, want)
	}
}
