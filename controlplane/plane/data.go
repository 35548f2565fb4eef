package plane

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/files"
)

// How much room there must be to start. At first, etcd sets two segments of
// 64 MB aside for its log; later it has them.
const (
	leastFree     = 256 << 20
	leastFreeData = 96 << 20
)

// checkDisk refuses to begin on a disk that is about to be full: running out
// while writing is the one thing that does harm.
func (d Dir) checkDisk() error {
	var s unix.Statfs_t
	if err := unix.Statfs(string(d), &s); err != nil {
		return nil // no reason to refuse; writing will tell
	}
	free := s.Bavail * uint64(s.Bsize)
	least := uint64(leastFree)
	if d.hasData() {
		least = leastFreeData
	}
	if free < least {
		return withHint(fmt.Errorf("start the control plane: only %d MB are free in %q", free>>20, string(d)), diskHint)
	}
	return nil
}

// hasData reports whether an earlier run left data.
func (d Dir) hasData() bool {
	entries, err := os.ReadDir(d.path(component.EtcdDir))
	return err == nil && len(entries) > 0
}

// checkVersion sets data of another Kubernetes version aside, and returns what
// to say about that.
func (d Dir) checkVersion(now string) (said string, err error) {
	data, err := os.ReadFile(d.versionFile())
	was := strings.TrimSpace(string(data))
	if err == nil && was != now && d.hasData() {
		if said, err = d.setAside("it was written by Kubernetes " + was); err != nil {
			return "", err
		}
	}
	return said, files.Write(d.versionFile(), []byte(now+"\n"))
}

// setAside renames etcd's data, keeping no more than the one that was set aside
// last, and returns what to say about it.
func (d Dir) setAside(why string) (string, error) {
	old, _ := filepath.Glob(d.path(component.EtcdDir + ".aside-*"))
	to := d.path(component.EtcdDir + ".aside-" + time.Now().Format("20060102-150405"))
	if err := os.Rename(d.path(component.EtcdDir), to); err != nil {
		return "", fmt.Errorf("set old data aside: %w", err)
	}
	for _, o := range old {
		if o != to {
			_ = os.RemoveAll(o)
		}
	}
	return fmt.Sprintf("the old cluster's data can't be used (%s): set aside as %s, beginning with an empty cluster", why, filepath.Base(to)), nil
}
