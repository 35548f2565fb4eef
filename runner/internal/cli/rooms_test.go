package cli

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms, from the top down: a room uses only rooms below it.
var rooms = []string{"cli", "proof", "bench", "grade", "judge", "answer", "doctor", "report", "progress", "cluster", "course", "verdict", "hint", "lock"}

func TestRoomsUseOnlyRoomsBelow(t *testing.T) {
	const prefix = "github.com/controllings/controllings/runner/internal/"
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata") {
			return err
		}
		room := strings.Split(filepath.ToSlash(path), "/")[1]
		at := slices.Index(rooms, room)
		if at < 0 {
			t.Errorf("%s is in no room that is known", path)
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			if strings.HasPrefix(name, "k8s.io/") {
				t.Errorf("%s imports %s: lab is built in seconds because it needs no Kubernetes", path, name)
			}
			used, ok := strings.CutPrefix(name, prefix)
			if !ok {
				continue
			}
			used, _, _ = strings.Cut(used, "/")
			if to := slices.Index(rooms, used); to < at || (to == at && !strings.Contains(name, room+"/")) {
				t.Errorf("%s (%s) uses %s, which is not below it", path, room, used)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
