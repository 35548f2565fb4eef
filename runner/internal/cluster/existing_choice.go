package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/controllings/controllings/runner/internal/hint"
)

// How the user names a cluster.
const (
	contextVar = "LAB_CONTEXT"
	// fileVar names the kubeconfig; $KUBECONFIG serves too, since whoever has set
	// it has named a file. ~/.kube/config is never read unless one of them says so.
	fileVar = "LAB_EXISTING_KUBECONFIG"
)

// choice is the cluster that the user named.
type choice struct {
	file, context string
	server        string
	// kubeconfig holds this one context, on its own: relative paths resolved.
	kubeconfig []byte
}

// chooseFromEnv reads what the user named. It sends no request and writes nothing.
func chooseFromEnv() (*choice, error) {
	file, err := fileFromEnv()
	if err != nil {
		return nil, err
	}
	return choose(file, os.Getenv(contextVar))
}

func fileFromEnv() (string, error) {
	name, path := fileVar, os.Getenv(fileVar)
	if path == "" {
		name, path = "KUBECONFIG", os.Getenv("KUBECONFIG")
	}
	var files []string
	for _, f := range filepath.SplitList(path) {
		if f != "" {
			files = append(files, f)
		}
	}
	switch len(files) {
	case 0:
		return "", hint.New("name both: export "+fileVar+"=FILE "+contextVar+"=CONTEXT (a file that you already use is fine: it is only read)",
			"CLUSTER=existing: no kubeconfig is named; none is looked for, so that nothing happens to a cluster by accident")
	case 1:
	default:
		return "", hint.New("name the one that has the context: export "+fileVar+"=FILE", "%s names %d files, and which one is meant is not guessed", name, len(files))
	}
	abs, err := filepath.Abs(files[0])
	if err != nil {
		return "", fmt.Errorf("find the kubeconfig: %w", err)
	}
	return abs, nil
}

// entries of a kubeconfig's list, as they are: what lab doesn't know passes too.
type entries []map[string]any

// wholeFile is a kubeconfig.
type wholeFile struct {
	Contexts entries `yaml:"contexts"`
	Clusters entries `yaml:"clusters"`
	Users    entries `yaml:"users"`
}

// choose picks one context of the kubeconfig file.
func choose(file, context string) (*choice, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.New("name the file that has the context: export "+fileVar+"=FILE", "the kubeconfig %q does not exist", file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	var all wholeFile
	if err := yaml.Unmarshal(data, &all); err != nil {
		return nil, hint.New("see whether kubectl can read it: kubectl --kubeconfig="+file+" config view", "read the kubeconfig %q: %w", file, err)
	}
	if context == "" {
		return nil, hint.New("choose one: export "+contextVar+"=NAME; until then nothing is sent to any of them", "%s is not set; %q has the contexts: %s", contextVar, file, all.Contexts.names())
	}
	c := &choice{file: file, context: context}
	if err := c.extract(&all); err != nil {
		return nil, hint.New("choose another context: "+file+" has "+all.Contexts.names(), "context %q of %q: %w", context, file, err)
	}
	return c, nil
}

// extract fills in the server and a kubeconfig that holds nothing else.
func (c *choice) extract(all *wholeFile) error {
	context, err := all.Contexts.find("context", c.context)
	if err != nil {
		return err
	}
	body := part(context, "context")
	cluster, err := all.Clusters.find("cluster", text(body, "cluster"))
	if err != nil {
		return err
	}
	k := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": c.context,
		"contexts": entries{context}, "clusters": entries{cluster},
	}
	reach := part(cluster, "cluster")
	c.server = text(reach, "server")
	if u, err := url.Parse(c.server); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("its cluster has no usable server: %q", c.server)
	}
	dir := filepath.Dir(c.file)
	resolve(reach, dir, "certificate-authority")
	if name := text(body, "user"); name != "" {
		user, err := all.Users.find("user", name)
		if err != nil {
			return err
		}
		who := part(user, "user")
		if as := text(who, "as"); as != "" {
			return fmt.Errorf("its user acts as %q, and the checks themselves must act as the learner's ServiceAccount: that can't be nested", as)
		}
		resolve(who, dir, "client-certificate", "client-key", "tokenFile")
		if plugin, ok := who["exec"].(map[string]any); ok {
			preparePlugin(plugin, dir)
		}
		k["users"] = entries{user}
	}
	c.kubeconfig, err = yaml.Marshal(k)
	return err
}

func (e entries) names() string {
	var names []string
	for _, m := range e {
		if n := text(m, "name"); n != "" {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	sort.Strings(names)
	return strings.Join(names, ", ")
}

// find returns the one entry of a name.
func (e entries) find(kind, name string) (map[string]any, error) {
	var found map[string]any
	for _, m := range e {
		if text(m, "name") != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("there are two %ss of the name %q", kind, name)
		}
		found = m
	}
	if found == nil || part(found, kind) == nil {
		return nil, fmt.Errorf("there is no %s %q", kind, name)
	}
	return found, nil
}

func part(m map[string]any, key string) map[string]any {
	p, _ := m[key].(map[string]any)
	return p
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// resolve makes paths absolute: the copy lies in another folder.
func resolve(m map[string]any, dir string, keys ...string) {
	for _, key := range keys {
		if p := text(m, key); p != "" && !filepath.IsAbs(p) {
			m[key] = filepath.Join(dir, p)
		}
	}
}

// preparePlugin lets a program that fetches credentials run inside a check, whose
// home folder is an empty one: the program finds the user's own, where its login
// is kept. A command without a slash is looked up on PATH, as client-go does.
func preparePlugin(plugin map[string]any, dir string) {
	if strings.ContainsRune(text(plugin, "command"), filepath.Separator) {
		resolve(plugin, dir, "command")
	}
	env, _ := plugin["env"].([]any)
	set := map[string]bool{}
	for _, e := range env {
		if m, ok := e.(map[string]any); ok {
			set[text(m, "name")] = true
		}
	}
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		if value := os.Getenv(name); value != "" && !set[name] {
			env = append(env, map[string]any{"name": name, "value": value})
		}
	}
	plugin["env"] = env
}

// wrapContext tells which cluster an error is about.
func wrapContext(c *choice, err error) error {
	next := hint.Of(err)
	if next == "" {
		next = "see whether you reach it: kubectl --kubeconfig=" + c.file + " --context=" + c.context + " get namespaces"
	}
	return hint.New(next, "context %q at %s: %w", c.context, c.server, err)
}
