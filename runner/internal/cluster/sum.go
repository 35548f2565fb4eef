package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/controllings/controllings/runner/internal/hint"
)

// sum describes all that the binary is made of: the course's own source, go.mod
// and go.sum (and so every module's content), the linker's flags, the platform.
// The Go version is not in it: a learner who updates Go in the middle of the
// course should not wait for all of Kubernetes again.
func (b builder) sum() (sum, version string, err error) {
	gomod, err := os.ReadFile(filepath.Join(b.source(), "go.mod"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = hint.New("run it in a whole checkout of the course", "no control plane's source in %q", b.source())
		}
		return "", "", err
	}
	version = kubernetesVersion(gomod)
	if version == "" {
		return "", "", fmt.Errorf("no version of k8s.io/kubernetes in %q", filepath.Join(b.source(), "go.mod"))
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s/%s\n", ldflags(version), runtime.GOOS, runtime.GOARCH)
	err = filepath.WalkDir(b.source(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			// As the go command does, leave out what is not part of the build.
			if path != b.source() && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		isSource := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
		if !isSource && name != "go.mod" && name != "go.sum" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(b.source(), path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %x\n", filepath.ToSlash(rel), sha256.Sum256(data))
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), version, err
}
