package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// Keep copies those of the files that Write would change, and that hold work
// which is not committed, below .lab/kept, and says so on w.
func (r *Repo) Keep(ctx context.Context, w io.Writer, files []File) error {
	home := os.Getenv("LAB_HOME")
	if home == "" {
		home = r.Path(".lab")
	}
	dir := filepath.Join(home, "kept", "update-"+time.Now().Format("2006-01-02-150405"))
	for _, f := range files {
		have, err := os.ReadFile(r.Path(f.Path))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if bytes.Equal(have, f.Data) {
			continue
		}
		if committed, err := Output(ctx, r.Root, nil, "git", "show", "HEAD:./"+f.Path); err == nil && bytes.Equal(committed, have) {
			continue
		}
		to := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, have, 0o600); err != nil {
			return err
		}
		fmt.Fprintf(w, "kept    %s as %s\n", path.Clean(f.Path), to)
	}
	return nil
}
