package e2e

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// small mounts a file system of so many megabytes, which takes root.
func small(t *testing.T, megabytes string) cluster {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small file system")
	}
	dir := filepath.Join(t.TempDir(), "small 磁盘")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+megabytes+"m"); err != nil {
		t.Skip("no tmpfs here: ", err)
	}
	c := cluster{dir: filepath.Join(dir, "cluster")}
	t.Cleanup(func() {
		_ = c.command("down").Run()
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error("unmount: ", err) // somebody is still in there
		}
	})
	return c
}

// fill takes all the room that is left, and returns how to give it back.
func fill(t *testing.T, dir string) (empty func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(f, zeros{})
	if !strings.Contains(err.Error(), "no space left") {
		t.Fatal(err)
	}
	_ = f.Close()
	return func() { _ = os.Remove(path) }
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAFullDiskIsRefusedBeforeAnythingIsStarted(t *testing.T) {
	c := small(t, "20")
	out, err := c.command("up").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "MB are free in") || !strings.Contains(string(out), "hint:  free at least") {
		t.Errorf("up: %v\n%s", err, out)
	}
	if s := c.status(t); s.State != "down" {
		t.Errorf("status = %+v", s)
	}
	defer fill(t, filepath.Dir(c.dir))()
	// Not even a state file can be written now.
	out, err = c.command("up").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "hint:  free at least") {
		t.Errorf("up with no room at all: %v\n%s", err, out)
	}
}

func TestADiskThatFillsUpIsSurvived(t *testing.T) {
	c := small(t, "300")
	c.up(t)
	a := c.admin(t)
	a.create("/api/v1/namespaces/default/configmaps", obj{"metadata": obj{"name": "kept"}})
	empty := fill(t, filepath.Dir(c.dir))
	defer empty()
	// Write until etcd has no room to grow.
	big := strings.Repeat("x", 900<<10)
	for range 200 {
		code, _ := a.do(t.Context(), http.MethodPost, "/api/v1/namespaces/default/configmaps",
			obj{"metadata": obj{"generateName": "big-"}, "data": obj{"x": big}})
		if code != http.StatusCreated {
			break
		}
	}
	eventually(t, 60*time.Second, func(context.Context) string {
		if s := c.status(t); s.State != "degraded" {
			return s.State
		}
		return ""
	})
	empty()
	c.up(t) // whatever has failed is started anew
	eventually(t, 30*time.Second, func(ctx context.Context) string {
		if s := c.status(t); s.State != "up" {
			return s.State + " " + s.Reason
		}
		code, _ := c.admin(t).do(ctx, http.MethodGet, "/api/v1/namespaces/default/configmaps/kept", nil)
		if code != http.StatusOK {
			return http.StatusText(code)
		}
		return ""
	})
}
