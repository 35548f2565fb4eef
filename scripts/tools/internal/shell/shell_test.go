package shell

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/scripts/tools/internal/tree"
)

func TestCheck(t *testing.T) {
	r := tree.New(t, `
-- good --
#!/bin/sh
echo good
-- bad --
#!/usr/bin/env sh
if true; then
-- plain --
#!/bin/sh
echo not executable
-- text --
if true; then
`)
	require.NoError(t, exec.Command("git", "init", "-q", r.Root).Run())
	for _, f := range []string{"good", "bad"} {
		require.NoError(t, os.Chmod(r.Path(f), 0o755))
	}
	found, err := Check(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, "bad", found[0].Path)
	require.Equal(t, "plain: can't be executed: chmod +x", found[1].String())
}
