// Package shell checks the syntax of every shell script with the shell that its
// first line names.
package shell

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path"
	"strings"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// Check runs SHELL -n on each script, and asks that the script can be executed.
func Check(ctx context.Context, r *repo.Repo) ([]repo.Finding, error) {
	files, err := r.Files(ctx)
	if err != nil {
		return nil, err
	}
	var found []repo.Finding
	for _, f := range files {
		sh := interpreter(r.Path(f))
		if sh == "" {
			continue
		}
		if st, err := os.Stat(r.Path(f)); err == nil && st.Mode()&0o100 == 0 {
			found = append(found, repo.Finding{Path: f, Text: "can't be executed: chmod +x"})
		}
		if _, err := exec.LookPath(sh); err != nil {
			continue // bash is not everywhere; sh is
		}
		if _, err := repo.Output(ctx, r.Root, nil, sh, "-n", r.Path(f)); err != nil {
			found = append(found, repo.Finding{Path: f, Text: err.Error()})
		}
	}
	return found, nil
}

// interpreter returns the name of the shell in the first line of a file, or "".
func interpreter(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 128).ReadSlice('\n')
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	words := strings.Fields(string(rest))
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	switch name := path.Base(words[0]); name {
	case "sh", "bash", "dash":
		return name
	}
	return ""
}
