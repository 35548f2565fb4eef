package gowork_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/scripts/tools/internal/gowork"
	"github.com/controllings/controllings/scripts/tools/internal/tree"
)

func TestFiles(t *testing.T) {
	r := tree.New(t, `
-- todo/go.mod --
-- chapters/01-a/go.mod --
-- chapters/01-a/testdata/x/go.mod --
-- controlplane/go.mod --
-- scripts/tools/go.mod --
-- .lab/stage/x/go.mod --
-- bin/x/go.mod --
`)
	files, err := gowork.Files(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Equal(t, "go.work", files[0].Path)
	require.Contains(t, string(files[0].Data), "go 1.26.0\n\nuse (\n\t./chapters/01-a\n\t./todo\n)\n")

	require.NoError(t, r.Write(t.Output(), files))
	members, err := r.Workspace()
	require.NoError(t, err)
	require.Equal(t, []string{"chapters/01-a", "todo"}, members)
	outside, err := r.OutsideModules()
	require.NoError(t, err)
	require.Equal(t, []string{"controlplane", "scripts/tools"}, outside)
}
