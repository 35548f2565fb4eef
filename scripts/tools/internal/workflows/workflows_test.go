package workflows

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/scripts/tools/internal/tree"
)

func TestCheck(t *testing.T) {
	r := tree.New(t, `
-- .github/workflows/good.yml --
on: push
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - run: make test
-- .github/workflows/bad.yaml --
on: push
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - run: echo ${{ nothing.here }}
-- elsewhere.yml --
jobs: no workflow
`)
	require.NoError(t, exec.Command("git", "init", "-q", r.Root).Run())
	found, err := Check(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, ".github/workflows/bad.yaml", found[0].Path)
	require.Equal(t, 6, found[0].Line)
	require.Contains(t, found[0].Text, "nothing")
}
