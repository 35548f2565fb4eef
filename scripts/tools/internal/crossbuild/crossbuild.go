// Package crossbuild compiles what runs on a learner's machine for every kind of
// machine that the course promises.
package crossbuild

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

var platforms = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// Check builds every package of every member of go.work but the chapters for the
// platforms other than this one (which the tests build), without cgo and without
// leaving a file.
func Check(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	members, err := r.Workspace()
	if err != nil {
		return nil, err
	}
	var found []repo.Finding
	for _, m := range members {
		if strings.HasPrefix(m, "chapters/") || strings.HasPrefix(m, "solutions/") {
			continue
		}
		for _, p := range platforms {
			if p == [2]string{runtime.GOOS, runtime.GOARCH} {
				continue
			}
			env := append(repo.GoEnv(), "GOOS="+p[0], "GOARCH="+p[1], "CGO_ENABLED=0")
			if _, err := repo.Output(ctx, r.Path(m), env, "go", "build", "./..."); err != nil {
				found = append(found, repo.Finding{Path: m, Text: fmt.Sprintf("doesn't build for %s/%s: %v", p[0], p[1], err)})
			}
		}
	}
	return found, nil
}
