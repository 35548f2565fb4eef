package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const giga = 1 << 30

// What has to be free, in bytes. The control plane's build fills Go's caches; its
// program, etcd's data and a chapter's builds are small beside that.
const (
	moduleCacheNeeds = 2 * giga
	buildCacheNeeds  = 5 * giga
	checkoutNeeds    = giga
	homeNeeds        = giga
	// builtNeeds is for each of the caches once the control plane is built.
	builtNeeds = giga / 2
)

// volume is a disk that holds some of the folders.
type volume struct {
	folders    []string
	need, free uint64
}

// disk adds up what each disk has to hold.
func disk(ctx context.Context, o Options) Finding {
	modules, build := uint64(moduleCacheNeeds), uint64(buildCacheNeeds)
	if built(o) {
		modules, build = builtNeeds, builtNeeds
	}
	needs := []struct {
		name string
		dir  string
		need uint64
	}{{"the course", o.Root, checkoutNeeds}, {"LAB_HOME", o.Home, homeNeeds}, {"temporary files", os.TempDir(), giga / 2}}
	caches, err := command(ctx, o.Root, []string{"GOTOOLCHAIN=local", "GOWORK=off"}, "go", "env", "GOCACHE", "GOMODCACHE")
	if err == nil {
		cache, mod, _ := strings.Cut(caches, "\n")
		needs = append(needs, struct {
			name string
			dir  string
			need uint64
		}{"GOCACHE", cache, build}, struct {
			name string
			dir  string
			need uint64
		}{"GOMODCACHE", mod, modules})
	}
	volumes := map[uint64]*volume{}
	var order []*volume
	for _, n := range needs {
		device, free, err := space(n.dir)
		if err != nil {
			return failed("see that the folder is there, and yours", "%s: %v", n.name, err)
		}
		v := volumes[device]
		if v == nil {
			v = &volume{free: free}
			volumes[device] = v
			order = append(order, v)
		}
		v.folders = append(v.folders, n.name)
		v.need += n.need
	}
	var found []string
	for _, v := range order {
		what := fmt.Sprintf("%s free for %s", size(v.free), strings.Join(v.folders, ", "))
		if v.free < v.need {
			return failed("free some; old builds go with go clean -cache. Or use a bigger disk: export GOCACHE=… GOMODCACHE=… TMPDIR=… LAB_HOME=…", "%s, and about %s is needed", what, size(v.need))
		}
		found = append(found, what)
	}
	return ok("%s", strings.Join(found, "; "))
}

// built reports whether the big build is behind us.
func built(o Options) bool {
	info, err := os.Stat(filepath.Join(o.Root, "bin", "controlplane"))
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// space tells which disk a folder is on, or will be, and what this user may still
// write there.
func space(dir string) (device, free uint64, err error) {
	at, err := existingParent(dir)
	if err != nil {
		return 0, 0, err
	}
	info, err := os.Stat(at)
	if err != nil {
		return 0, 0, err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		device = uint64(s.Dev) //nolint:unconvert // of another type on a Mac
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(at, &fs); err != nil {
		return 0, 0, err
	}
	return device, fs.Bavail * uint64(fs.Bsize), nil
}
