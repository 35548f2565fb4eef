package answer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/controllings/controllings/runner/internal/course"
	"github.com/controllings/controllings/runner/internal/hint"
)

// git runs git in dir as if no repository, no configuration and no environment
// of the user's were there: an answer must not depend on them.
func git(ctx context.Context, dir, stdin string, args ...string) (out string, exit int, err error) {
	// Looking for a repository stops below dir; resolved, as git compares.
	ceiling := filepath.Dir(dir)
	if real, err := filepath.EvalSymlinks(ceiling); err == nil {
		ceiling = real
	}
	return runGit(ctx, dir, stdin, []string{"GIT_CEILING_DIRECTORIES=" + ceiling, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"}, args...)
}

// repoGit runs git in dir with the repository around it, and the user's word on
// whether that is to be trusted.
func repoGit(ctx context.Context, dir string, args ...string) (out string, exit int, err error) {
	return runGit(ctx, dir, "", nil, args...)
}

// Tracked lists the files below dirs that git tracks, from the course's root;
// false where there is no repository.
func Tracked(ctx context.Context, c *course.Course, dirs ...string) ([]string, bool) {
	args := []string{"ls-files", "-z", "--"}
	for _, d := range dirs {
		args = append(args, c.Rel(d))
	}
	out, _, err := repoGit(ctx, c.Root, args...)
	if err != nil {
		return nil, false
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), true
}

func runGit(ctx context.Context, dir, stdin string, env []string, args ...string) (string, int, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(withoutGit(os.Environ()), "LC_ALL=C")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", -1, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", -1, hint.New("install git and try again: the course's answers are patches", "git is not on PATH")
	case errors.As(err, &exit):
		return stdout.String(), exit.ExitCode(), fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(stderr.String()))
	case err != nil:
		return "", -1, fmt.Errorf("git %s: %w", args[0], err)
	}
	return stdout.String(), 0, nil
}

// withoutGit drops GIT_DIR and its like, which a hook or an editor may have set.
func withoutGit(env []string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "LC_ALL=") {
			kept = append(kept, e)
		}
	}
	return kept
}
