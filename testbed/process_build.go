package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/controllings/controllings/todo/guard"
)

// EnvManager names, in the environment of a check, the program that the runner
// has built of the answer's ./cmd/manager: an absolute path.
const EnvManager = "LAB_MANAGER"

// buildTimeout is enough for a first build of all libraries.
const buildTimeout = 10 * time.Minute

// environ is the environment before a check set its home aside, where Go has its
// caches.
var environ = os.Environ()

// manager is the path of the chapter's program.
func (b *Bed) manager() string {
	b.t.Helper()
	path, err := managerPath()
	var wrong *buildError
	if errors.As(err, &wrong) {
		b.Fail(Fail{Expected: "cmd/manager to compile", Seen: wrong.output})
	}
	b.Must(err, "build cmd/manager")
	return path
}

var managerPath = sync.OnceValues(func() (string, error) {
	for _, e := range environ {
		if path, ok := strings.CutPrefix(e, EnvManager+"="); ok && path != "" {
			return path, nil
		}
	}
	dir, err := os.MkdirTemp("", "testbed-manager-")
	if err != nil {
		return "", err
	}
	// Other checks of this process use it too, so it is removed after the last.
	if err := guard.RemoveAtEnd(dir); err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	path := filepath.Join(dir, "manager")
	return path, build("./cmd/manager", path)
})

// buildError is what the compiler says against the learner's code.
type buildError struct{ output string }

func (e *buildError) Error() string { return e.output }

// build compiles a package into a program.
func build(pkg, path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, pkg)
	cmd.Env = environ
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("go build had not ended after %s", buildTimeout)
	case errors.As(err, &exit):
		return &buildError{strings.TrimSpace(string(out))}
	default:
		return err
	}
}
