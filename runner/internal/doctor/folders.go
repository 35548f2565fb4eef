package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// checkout looks whether the course is whole, and can be worked in.
func checkout(ctx context.Context, o Options) Finding {
	const anew = "take a whole checkout of the course: git status shows what is missing"
	for _, name := range []string{"go.work", "chapters", "solutions", "testbed/go.mod", "todo/go.mod", "controlplane/go.mod"} {
		if _, err := os.Stat(filepath.Join(o.Root, name)); err != nil {
			return failed(anew, "%v", err)
		}
	}
	if strings.ContainsRune(o.Root, os.PathListSeparator) {
		return failed(fmt.Sprintf("move the course to a folder without %q", os.PathListSeparator), "%q has a %q in its path: $KUBECONFIG and $PATH can't name files in it", o.Root, os.PathListSeparator)
	}
	for _, dir := range []string{"", "chapters"} {
		if err := canWrite(filepath.Join(o.Root, dir)); err != nil {
			return failed("move the course to a folder of your own, or make it yours: chown -R", "can't be written: %v", err)
		}
	}
	if err := runs(ctx, o.Root); err != nil {
		return failed("move the course to a disk that is not mounted noexec", "programs that are built here (bin/) can't be run: %v", err)
	}
	return ok("%s", o.Root)
}

// home looks whether LAB_HOME can hold what lab keeps: it must lock, rename, hold
// unix sockets, and keep secrets secret.
func home(_ context.Context, o Options) Finding {
	const elsewhere = "choose a folder on a local disk: export LAB_HOME=…"
	if strings.ContainsRune(o.Home, os.PathListSeparator) {
		return failed(fmt.Sprintf("choose a folder without %q: export LAB_HOME=…", os.PathListSeparator), "%q has a %q in its path: $KUBECONFIG can't name a file in it", o.Home, os.PathListSeparator)
	}
	at, err := existingParent(o.Home)
	if err != nil {
		return failed(elsewhere, "%v", err)
	}
	if f := owned(o.Home); f.Status != OK {
		return f
	}
	dir, err := os.MkdirTemp(at, ".lab-doctor-")
	if err != nil {
		return failed("make it writable, or "+elsewhere, "can't be written: %v", err)
	}
	defer os.RemoveAll(dir)
	if err := locks(dir); err != nil {
		return failed(elsewhere, "%s is on a file system that can't lock files: %v", o.Home, err)
	}
	if err := renames(dir); err != nil {
		return failed(elsewhere, "%s is on a file system that can't replace a file in one step: %v", o.Home, err)
	}
	if err := sockets(dir); err != nil {
		return failed(elsewhere, "%s is on a file system without unix sockets: %v", o.Home, err)
	}
	if err := secret(dir); err != nil {
		return failed(elsewhere, "%s is on a file system that keeps no secrets: %v", o.Home, err)
	}
	// etcd's log files and the stages lie deep below.
	const below, most = 300, 4096
	if len(o.Home) > most-below {
		return failed(elsewhere, "its path is %d bytes long, and %d is the most", len(o.Home), most-below)
	}
	return ok("%s", o.Home)
}

// existingParent is the nearest folder upwards that is there.
func existingParent(dir string) (string, error) {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return dir, nil
		case err == nil:
			return "", fmt.Errorf("%s is no folder", dir)
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		case dir == filepath.Dir(dir):
			return "", err
		}
		dir = filepath.Dir(dir)
	}
}

// owned looks for what belongs to another user: after a sudo make, say.
func owned(home string) Finding {
	me := os.Geteuid()
	for _, pattern := range []string{"", "kubeconfig", "progress", "clusters", "clusters/*", "stage"} {
		for _, path := range glob(home, pattern) {
			info, err := os.Lstat(path)
			if err != nil {
				continue
			}
			if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != me {
				return failed("make it yours: sudo chown -R \"$(id -u)\" '"+home+"'", "%s belongs to another user (id %d)", path, s.Uid)
			}
			if filepath.Base(path) == "kubeconfig" && info.Mode().Perm()&0o077 != 0 {
				return failed("chmod 600 '"+path+"'", "%s can be read by others (mode %o), and it gives all rights on the cluster", path, info.Mode().Perm())
			}
		}
	}
	return ok("")
}

// glob lists what a pattern below a folder, whose own name means itself, matches.
func glob(dir, pattern string) []string {
	if pattern == "" || !strings.Contains(pattern, "*") {
		return []string{filepath.Join(dir, pattern)}
	}
	parent := filepath.Join(dir, filepath.Dir(pattern))
	entries, _ := os.ReadDir(parent) // a folder that isn't there has none
	var all []string
	for _, e := range entries {
		all = append(all, filepath.Join(parent, e.Name()))
	}
	return all
}

func canWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".lab-doctor-")
	if err != nil {
		return err
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// runs tries a program in dir.
func runs(ctx context.Context, dir string) error {
	tmp, err := os.MkdirTemp(dir, ".lab-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	script := filepath.Join(tmp, "try")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		return err
	}
	for {
		_, err := command(ctx, tmp, nil, script)
		// Another thread may fork while the file is still open for writing there.
		if !errors.Is(err, syscall.ETXTBSY) || ctx.Err() != nil {
			return err
		}
	}
}

func locks(dir string) error {
	path := filepath.Join(dir, "lock")
	var files [2]*os.File
	for i := range files {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		files[i] = f
	}
	if err := syscall.Flock(int(files[0].Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	if err := syscall.Flock(int(files[1].Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("two can hold a lock at once")
	}
	return nil
}

func renames(dir string) error {
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for name, text := range map[string]string{from: "new", to: "old"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	data, err := os.ReadFile(to)
	if err == nil && string(data) != "new" {
		err = errors.New("the old file is still there")
	}
	return err
}

// sockets tries a unix socket by a short path: the system bounds its length, and
// the control plane names its own by a relative one. Here a link does that.
func sockets(dir string) error {
	short, err := os.MkdirTemp("", "lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(short)
	link := filepath.Join(short, "d")
	if err := os.Symlink(dir, link); err != nil {
		return err
	}
	l, err := net.Listen("unix", filepath.Join(link, "s"))
	if err != nil {
		return err
	}
	return l.Close()
}

func secret(dir string) error {
	path := filepath.Join(dir, "secret")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm() != 0o600 {
		err = fmt.Errorf("a file of mode 600 gets mode %o", info.Mode().Perm())
	}
	return err
}

// stamp is the time that a new file in a folder gets.
func stamp(dir string) (time.Time, error) {
	f, err := os.CreateTemp(dir, ".lab-doctor-")
	if err != nil {
		return time.Time{}, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
