package plane

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/files"
)

// Dir is the folder that holds a control plane.
type Dir string

// Open returns the control plane in folder dir, which need not exist yet.
func Open(dir string) (Dir, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find folder %q: %w", dir, err)
	}
	return Dir(abs), nil
}

func (d Dir) path(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// Kubeconfig is the administrator's kubeconfig.
func (d Dir) Kubeconfig() string { return d.path("kubeconfig") }

// Log is the file that takes a component's output. The supervisor has one too.
func (d Dir) Log(name string) string { return d.path("logs", name+".log") }

// ControlFile says how to reach the control endpoint. It is there while the
// control plane is up; see package endpoint.
func (d Dir) ControlFile() string { return d.path("control") }

func (d Dir) lockFile() string    { return d.path("lock") }
func (d Dir) stateFile() string   { return d.path("state") }
func (d Dir) portsFile() string   { return d.path("ports") }
func (d Dir) versionFile() string { return d.path("version") }
func (d Dir) tmp() string         { return d.path(component.TmpDir) }

// SupervisorName names the supervisor's log.
const SupervisorName = "supervisor"

// make makes the folders.
func (d Dir) make() error {
	for _, dir := range []string{string(d), d.path("logs"), d.path(component.ConfigDir), d.tmp()} {
		if err := files.MkdirAll(dir); err != nil {
			return explain(fmt.Errorf("make folder: %w", err))
		}
	}
	return nil
}

// tidy removes what has no meaning while it is down. Only the lock's holder may.
func (d Dir) tidy() {
	_ = os.Remove(d.stateFile())
	_ = os.Remove(d.ControlFile())
	_ = os.RemoveAll(d.tmp())
	for _, s := range component.Sockets() {
		_ = os.Remove(d.path(s))
	}
}
