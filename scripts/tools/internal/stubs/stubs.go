// Package stubs makes each chapter's stubs: the solution plus its stub.patch,
// with the solution's import paths turned into the chapter's.
//
// The runner does the same for lab reset; this one is apart on purpose, so that
// each proves the other.
package stubs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
)

// Files returns the files of all chapters that a learner edits, untouched.
func Files(ctx context.Context, r *repo.Repo) ([]repo.File, error) {
	names, err := r.Chapters()
	if err != nil {
		return nil, err
	}
	var files []repo.File
	for _, name := range names {
		f, err := chapter(ctx, r, name)
		if err != nil {
			return nil, fmt.Errorf("chapter %s: %w", name, err)
		}
		files = append(files, f...)
	}
	return files, nil
}

func chapter(ctx context.Context, r *repo.Repo, name string) ([]repo.File, error) {
	ch, err := r.Chapter(name)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "controllings-stubs-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	for _, f := range ch.Files {
		data, err := os.ReadFile(r.Path("solutions", name, f))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the patch may make it
		}
		if err != nil {
			return nil, err
		}
		to := filepath.Join(tmp, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return nil, err
		}
	}
	// The ceiling keeps git from taking the copy for a part of a repository
	// that happens to lie above the temporary folder.
	env := []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(tmp)}
	patch := r.Path("solutions", name, "stub.patch")
	if _, err := repo.Output(ctx, tmp, env, "git", "apply", "--whitespace=nowarn", patch); err != nil {
		return nil, fmt.Errorf("stub.patch doesn't apply to the solution: bin/lab author rebase mends it: %w", err)
	}
	var files []repo.File
	for _, f := range ch.Files {
		data, err := os.ReadFile(filepath.Join(tmp, filepath.FromSlash(f)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if filepath.Ext(f) == ".go" {
			data = bytes.ReplaceAll(data,
				[]byte(`"`+path.Join(repo.Module, "solutions", name)),
				[]byte(`"`+path.Join(repo.Module, "chapters", name)))
		}
		files = append(files, repo.File{Path: path.Join("chapters", name, f), Data: data})
	}
	return files, nil
}
