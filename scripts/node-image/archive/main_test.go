package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// An engine reads the manifest, then what it names.
func TestArchiveIsWhatAnEngineReads(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "usr/local/bin/pause"), "a program", 0o755)
	write(t, filepath.Join(dir, "etc/pause.conf"), "a file", 0o644)

	const image = "registry.example/pause:3.10"
	files := untar(t, archive(t, image+"="+dir))

	var manifest []entry
	unmarshal(t, files["manifest.json"].data, &manifest)
	if len(manifest) != 1 || !reflect.DeepEqual(manifest[0].RepoTags, []string{image}) || len(manifest[0].Layers) != 1 {
		t.Fatalf("the manifest is %+v: want one image %q of one layer", manifest, image)
	}

	var config struct {
		Architecture, OS string
		Config           struct{ Entrypoint []string }
		RootFS           struct {
			Type    string
			DiffIDs []string `json:"diff_ids"`
		}
	}
	unmarshal(t, files[manifest[0].Config].data, &config)
	if config.OS != "linux" || config.Architecture != runtime.GOARCH {
		t.Errorf("the image is for %s/%s: want linux/%s", config.OS, config.Architecture, runtime.GOARCH)
	}
	if want := []string{"/usr/local/bin/pause"}; !reflect.DeepEqual(config.Config.Entrypoint, want) {
		t.Errorf("the image starts %q: want %q", config.Config.Entrypoint, want)
	}

	unzipped, err := gzip.NewReader(bytes.NewReader(files[manifest[0].Layers[0]].data))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	// The digest of what is in the layer, not of the layer: an engine compares.
	if want := []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}; !reflect.DeepEqual(config.RootFS.DiffIDs, want) {
		t.Errorf("the layer's digest is %q: want %q", config.RootFS.DiffIDs, want)
	}
	inside := untar(t, layer)
	program := inside["usr/local/bin/pause"]
	if string(program.data) != "a program" || program.mode != 0o755 {
		t.Errorf("the program is %q with mode %o: want %q with mode 755", program.data, program.mode, "a program")
	}
	if conf := inside["etc/pause.conf"]; string(conf.data) != "a file" || conf.mode != 0o644 {
		t.Errorf("the file is %q with mode %o: want %q with mode 644", conf.data, conf.mode, "a file")
	}
}

// A layer's name is its digest, so that the same files are loaded once.
func TestSameFilesAreTheSameArchive(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		write(t, filepath.Join(dir, "usr/local/bin/etcd"), "a program", 0o755)
	}
	if !bytes.Equal(archive(t, "etcd:1="+first), archive(t, "etcd:1="+second)) {
		t.Error("the same files gave two different archives")
	}
}

func TestArchiveRefuses(t *testing.T) {
	linked := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(linked, "passwd")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, arg, says string }{
		{"an argument without a folder", "pause:3.10", `want IMAGE=FOLDER, not "pause:3.10"`},
		{"a folder that is not there", "pause:3.10=" + filepath.Join(linked, "no"), "pack pause:3.10: "},
		{"a link", "pause:3.10=" + linked, "pack pause:3.10: passwd is neither file nor folder"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := run(io.Discard, []string{test.arg})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the error is %v: want %q in it", err, test.says)
			}
		})
	}
}

type content struct {
	data []byte
	mode int64
}

func archive(t *testing.T, args ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := run(&out, args); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func untar(t *testing.T, data []byte) map[string]content {
	t.Helper()
	files := map[string]content{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = content{data, h.Mode}
	}
}

func unmarshal(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("read %q: %v", data, err)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}
