package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/controllings/controllings/runner/internal/hint"
)

// memory is a cluster that was used: a folder that holds its kubeconfig and what
// is known about it.
type memory struct {
	dir   string
	about about
}

type about struct {
	File       string `json:"file"` // the user's kubeconfig
	Context    string `json:"context"`
	Server     string `json:"server"`
	Kubernetes string `json:"kubernetes"` // its version, when it was last looked at
}

func (m *memory) kubeconfig() string { return filepath.Join(m.dir, "kubeconfig") }
func (m *memory) file() string       { return filepath.Join(m.dir, "about") }

// memory is the place of a choice, whether it is there or not. A context that
// leads to another server than it used to is another cluster.
func (e *existing) memory(c *choice) *memory {
	sum := sha256.Sum256([]byte(c.file + "\x00" + c.context + "\x00" + c.server))
	return &memory{
		dir:   filepath.Join(e.dir(), hex.EncodeToString(sum[:6])),
		about: about{File: c.file, Context: c.context, Server: c.server},
	}
}

// memories are all clusters that were used and not left since.
func (e *existing) memories() ([]*memory, error) {
	files, err := filepath.Glob(filepath.Join(globQuote(e.dir()), "*", "about"))
	if err != nil {
		return nil, fmt.Errorf("list the clusters that were used: %w", err)
	}
	sort.Strings(files)
	var all []*memory
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("list the clusters that were used: %w", err)
		}
		m := &memory{dir: filepath.Dir(f)}
		if err := json.Unmarshal(data, &m.about); err != nil {
			return nil, hint.New("look into it, clear that cluster by hand (kubectl delete namespaces -l "+ownerLabel+"), and remove the folder", "read %q: %w", f, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// globQuote lets a folder's own name mean itself in a pattern.
func globQuote(path string) string {
	var b bytes.Buffer
	for _, c := range []byte(path) {
		if c == '*' || c == '?' || c == '[' || c == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// unchanged reports whether the cluster was admitted with this very kubeconfig.
func (m *memory) unchanged(c *choice) bool {
	have, err := os.ReadFile(m.kubeconfig())
	if err != nil || !bytes.Equal(have, c.kubeconfig) {
		return false
	}
	data, err := os.ReadFile(m.file())
	return err == nil && json.Unmarshal(data, &m.about) == nil
}

// save remembers the cluster. "about" comes last: without it the folder counts
// for nothing.
func (m *memory) save(c *choice) error {
	if err := mkdir(m.dir); err != nil {
		return err
	}
	data, err := json.MarshalIndent(m.about, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(m.kubeconfig(), c.kubeconfig); err != nil {
		return err
	}
	return writeFile(m.file(), append(data, '\n'))
}

// renew takes over the credentials that the user's file has by now, if its
// context still leads to this cluster, and returns that kubeconfig. Else it is
// nil, and those that were kept have to do.
func (m *memory) renew() []byte {
	c, err := choose(m.about.File, m.about.Context)
	if err != nil || c.server != m.about.Server || writeFile(m.kubeconfig(), c.kubeconfig) != nil {
		return nil
	}
	return c.kubeconfig
}

// forget removes the folder, "about" first.
func (m *memory) forget() error {
	err := os.Remove(m.file())
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.RemoveAll(m.dir)
	}
	if err != nil {
		return explain(fmt.Errorf("forget the cluster: %w", err))
	}
	return nil
}

// tempFile writes a file of mode 0600 that is removed soon.
func tempFile(dir string, data []byte) (string, error) {
	f, err := os.CreateTemp(dir, ".candidate.*")
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return "", explain(fmt.Errorf("write a kubeconfig: %w", err))
	}
	return f.Name(), nil
}
