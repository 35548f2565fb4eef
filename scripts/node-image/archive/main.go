// Writes container images as one archive of the kind that docker save writes, with
// no engine and nothing in the images but what is given:
//
//	archive IMAGE=FOLDER… >images.tar
//
// An image called registry.example/NAME:TAG starts /usr/local/bin/NAME.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// entry is an image's line in the archive's manifest.json.
type entry struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func run(w io.Writer, args []string) error {
	out := tar.NewWriter(w)
	var manifest []entry
	for _, arg := range args {
		image, dir, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("want IMAGE=FOLDER, not %q", arg)
		}
		e, err := add(out, image, dir)
		if err != nil {
			return fmt.Errorf("pack %s: %w", image, err)
		}
		manifest = append(manifest, e)
	}
	data, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	if err := file(out, "manifest.json", data); err != nil {
		return err
	}
	return out.Close()
}

// add writes an image's layer and config.
func add(out *tar.Writer, image, dir string) (entry, error) {
	layer, diffID, err := pack(os.DirFS(dir))
	if err != nil {
		return entry{}, err
	}
	name, _, _ := strings.Cut(path.Base(image), ":")
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config": map[string]any{
			"Env":        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
			"Entrypoint": []string{"/usr/local/bin/" + name},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + diffID}},
	})
	if err != nil {
		return entry{}, err
	}
	e := entry{
		Config:   fmt.Sprintf("%x.json", sha256.Sum256(config)),
		RepoTags: []string{image},
		Layers:   []string{fmt.Sprintf("%x.tar.gz", sha256.Sum256(layer))},
	}
	if err := file(out, e.Layers[0], layer); err != nil {
		return entry{}, err
	}
	return e, file(out, e.Config, config)
}

// pack returns a folder as a compressed layer, and the digest of what is in it.
// Owners and times are left out: the same files are the same image.
func pack(dir fs.FS) (layer []byte, diffID string, err error) {
	var buf bytes.Buffer
	zip, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.New()
	out := tar.NewWriter(io.MultiWriter(zip, sum))
	err = fs.WalkDir(dir, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		// The trees hold folders and files alone; anything else fails here.
		h := &tar.Header{Name: p, Mode: int64(info.Mode().Perm())}
		switch {
		case d.IsDir():
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
			return out.WriteHeader(h)
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is neither file nor folder", p)
		}
		h.Typeflag, h.Size = tar.TypeReg, info.Size()
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		f, err := dir.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(out, f)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if err := out.Close(); err != nil {
		return nil, "", err
	}
	if err := zip.Close(); err != nil {
		return nil, "", err
	}
	return buf.Bytes(), fmt.Sprintf("%x", sum.Sum(nil)), nil
}

func file(out *tar.Writer, name string, data []byte) error {
	if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}); err != nil {
		return err
	}
	_, err := out.Write(data)
	return err
}
