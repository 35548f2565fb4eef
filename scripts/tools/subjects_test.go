package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each subject has its scripts, and each script its subject.
func TestScripts(t *testing.T) {
	want := map[string][]string{}
	for _, s := range subjects {
		require.NotEqual(t, s.files == nil, s.check == nil, "%s: files or check", s.name)
		require.True(t, s.files != nil || s.mend != "", "%s: says nothing about mending", s.name)
		want["verify"] = append(want["verify"], s.name)
		if s.updates() {
			want["update"] = append(want["update"], s.name)
		}
	}
	for verb, names := range want {
		entries, err := os.ReadDir(filepath.Join("..", verb))
		require.NoError(t, err)
		var have []string
		for _, e := range entries {
			have = append(have, e.Name())
			text, err := os.ReadFile(filepath.Join("..", verb, e.Name()))
			require.NoError(t, err)
			require.Contains(t, string(text), "/../tools/run\" "+verb+" "+e.Name()+" ")
		}
		require.ElementsMatch(t, names, have)
	}
}
