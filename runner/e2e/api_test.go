package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// obj is a Kubernetes object.
type obj = map[string]any

// theirs is the cluster of somebody else, seen by its administrator.
type theirs struct {
	t      *testing.T
	dir    string
	server string // its host and port
	client *http.Client
}

// startTheirs starts a control plane of its own; the test's end stops it.
func startTheirs(t *testing.T) *theirs {
	t.Helper()
	binary := filepath.Join(root, "bin", "controlplane")
	if _, err := os.Stat(binary); err != nil {
		t.Fatal("there is no bin/controlplane: run make cluster-up")
	}
	c := &theirs{t: t, dir: filepath.Join(t.TempDir(), "theirs")}
	command := func(args ...string) ([]byte, error) {
		return exec.Command(binary, append(args, "--dir", c.dir)...).CombinedOutput()
	}
	t.Cleanup(func() {
		if out, err := command("down"); err != nil {
			t.Errorf("stop their cluster: %v\n%s", err, out)
		}
	})
	if out, err := command("up"); err != nil {
		t.Fatalf("start their cluster: %v\n%s", err, out)
	}
	out, err := exec.Command(binary, "status", "--json", "--dir", c.dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	var status struct{ Server string }
	if err := json.Unmarshal(out, &status); err != nil {
		t.Fatal(err)
	}
	c.server = strings.TrimPrefix(status.Server, "https://")
	pki := filepath.Join(c.dir, "pki")
	cert, err := tls.LoadX509KeyPair(filepath.Join(pki, "client-admin.crt"), filepath.Join(pki, "client-admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(c.ca())
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	c.client = &http.Client{Transport: tr}
	t.Cleanup(tr.CloseIdleConnections)
	return c
}

func (c *theirs) ca() string { return filepath.Join(c.dir, "pki", "ca.crt") }

// do sends a request and decodes the answer.
func (c *theirs) do(method, path string, body any) (int, obj) {
	c.t.Helper()
	var r io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, "https://"+c.server+path, r)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var o obj
	if err := json.NewDecoder(resp.Body).Decode(&o); err != nil {
		// Not the API's own words: of a type that isn't served yet, say.
		o = obj{"message": resp.Status}
	}
	return resp.StatusCode, o
}

// create makes an object and returns it.
func (c *theirs) create(path string, o obj) obj {
	c.t.Helper()
	code, made := c.do(http.MethodPost, path, o)
	if code != http.StatusCreated {
		c.t.Fatalf("create at %s: %d %v", path, code, made["message"])
	}
	return made
}

// remove deletes an object and waits until it is gone.
func (c *theirs) remove(path string) {
	c.t.Helper()
	c.do(http.MethodDelete, path, nil)
	eventually(c.t, time.Minute, func() string {
		if code, _ := c.do(http.MethodGet, path, nil); code != http.StatusNotFound {
			return path + " is still there"
		}
		return ""
	})
}

// field returns the text at a path of names in an object.
func field(o obj, path ...string) string {
	var v any = o
	for _, p := range path {
		m, _ := v.(obj)
		v = m[p]
	}
	s, _ := v.(string)
	return s
}

// kind is a type of the API.
type kind struct {
	name string // "deployments.apps"
	list string // path
}

// kinds are all types whose objects are stored, found by discovery.
func (c *theirs) kinds() []kind {
	c.t.Helper()
	var all []kind
	seen := map[string]bool{}
	add := func(group, path string) {
		_, list := c.do(http.MethodGet, path, nil)
		resources, _ := list["resources"].([]any)
		for _, r := range resources {
			r, _ := r.(obj)
			verbs, _ := r["verbs"].([]any)
			name := field(r, "name")
			full := strings.TrimSuffix(name+"."+group, ".")
			if seen[full] || strings.Contains(name, "/") || !slices.Contains(verbs, any("list")) || !slices.Contains(verbs, any("watch")) {
				continue
			}
			seen[full] = true
			all = append(all, kind{full, path + "/" + name})
		}
	}
	add("", "/api/v1")
	_, groups := c.do(http.MethodGet, "/apis", nil)
	list, _ := groups["groups"].([]any)
	for _, g := range list {
		g, _ := g.(obj)
		add(field(g, "name"), "/apis/"+field(g, "preferredVersion", "groupVersion"))
		versions, _ := g["versions"].([]any)
		for _, v := range versions {
			v, _ := v.(obj)
			add(field(g, "name"), "/apis/"+field(v, "groupVersion"))
		}
	}
	if len(all) < 40 {
		c.t.Fatalf("only %d types found", len(all))
	}
	return all
}

// changesByItself are the types that a cluster at rest writes without end: the
// components' and nodes' signs of life, and the events. They are neither compared
// nor recorded.
var changesByItself = []string{"leases.coordination.k8s.io", "events", "events.events.k8s.io"}

// state is every object of the cluster but those, by "type namespace/name".
type state map[string]string

// normal is an object as it is compared. Of a Node the status, which is another
// sign of life, is left out, with the version that it changes and the record of
// who wrote it; of everything else nothing is.
func normal(k kind, o obj) string {
	if k.name == "nodes" {
		o = maps.Clone(o)
		delete(o, "status")
		meta, _ := o["metadata"].(obj)
		meta = maps.Clone(meta)
		delete(meta, "resourceVersion")
		delete(meta, "managedFields")
		o["metadata"] = meta
	}
	// A list's items don't say their type, events' objects do.
	o = maps.Clone(o)
	delete(o, "kind")
	delete(o, "apiVersion")
	data, _ := json.Marshal(o)
	return string(data)
}

func key(k kind, o obj) string {
	return k.name + " " + field(o, "metadata", "namespace") + "/" + field(o, "metadata", "name")
}

// dump lists everything. versions are where watches may go on.
func (c *theirs) dump() (s state, versions map[kind]string) {
	c.t.Helper()
	s, versions = state{}, map[kind]string{}
	for _, k := range c.kinds() {
		if slices.Contains(changesByItself, k.name) {
			continue
		}
		code, list := c.do(http.MethodGet, k.list, nil)
		if code != http.StatusOK {
			c.t.Fatalf("list %s: %d", k.name, code)
		}
		versions[k] = field(list, "metadata", "resourceVersion")
		items, _ := list["items"].([]any)
		for _, o := range items {
			o, _ := o.(obj)
			s[key(k, o)] = normal(k, o)
		}
	}
	return s, versions
}

// settled waits until nothing has changed for some seconds: a new cluster is
// still busy for a while.
func (c *theirs) settled() (state, map[kind]string) {
	c.t.Helper()
	var last state
	var versions map[kind]string
	since := time.Now()
	eventually(c.t, time.Minute, func() string {
		now, at := c.dump()
		changed := differences(last, now)
		last, versions = now, at
		if changed != "" {
			since = time.Now()
			return changed
		}
		if time.Since(since) < 3*time.Second {
			return "only just settled"
		}
		return ""
	})
	return last, versions
}

// differences names the objects that two states don't have alike.
func differences(before, after state) string {
	var lines []string
	for k, o := range before {
		now, ok := after[k]
		switch {
		case !ok:
			lines = append(lines, "gone: "+k)
		case now != o:
			lines = append(lines, "changed: "+k+"\n  "+o+"\n  "+now)
		}
	}
	for k := range after {
		if _, ok := before[k]; !ok {
			lines = append(lines, "new: "+k)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// change is something that happened on the cluster.
type change struct {
	what   string // "ADDED", "MODIFIED" or "DELETED"
	kind   kind
	object obj
}

// recorder watches every type.
type recorder struct {
	c       *theirs
	changes chan change
	seen    []change
	state   state
}

// record notes every change from a dump on, until the test's end.
func (c *theirs) record(from state, versions map[kind]string) *recorder {
	r := &recorder{c: c, changes: make(chan change, 1000), state: maps.Clone(from)}
	ctx := c.t.Context()
	for k, version := range versions {
		go func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet,
				"https://"+c.server+k.list+"?watch=1&timeoutSeconds=3600&resourceVersion="+version, nil)
			if err != nil {
				return
			}
			resp, err := c.client.Do(req)
			if err != nil {
				return
			}
			defer resp.Body.Close()
			lines := bufio.NewReader(resp.Body)
			for {
				line, err := lines.ReadBytes('\n')
				var e struct {
					Type   string
					Object obj
				}
				if err != nil || json.Unmarshal(line, &e) != nil {
					return // what is missed is missed in the comparison too
				}
				select {
				case r.changes <- change{e.Type, k, e.Object}:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return r
}

// complete waits until the record has led to what the cluster holds now: then no
// change is missing from it.
func (r *recorder) complete() []change {
	r.c.t.Helper()
	eventually(r.c.t, time.Minute, func() string {
		now, _ := r.c.dump()
		for {
			select {
			case e := <-r.changes:
				r.seen = append(r.seen, e)
				if e.what == "DELETED" {
					delete(r.state, key(e.kind, e.object))
				} else {
					r.state[key(e.kind, e.object)] = normal(e.kind, e.object)
				}
				continue
			case <-time.After(50 * time.Millisecond):
			}
			break
		}
		return differences(r.state, now)
	})
	return r.seen
}

// eventually polls until ok returns "", and fails with what it returned last.
func eventually(t *testing.T, within time.Duration, ok func() string) {
	t.Helper()
	if f, err := time.ParseDuration(os.Getenv("LAB_TIME_FACTOR") + "s"); err == nil && f > 0 {
		within = time.Duration(float64(within) * f.Seconds())
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for {
		seen := ok()
		if seen == "" {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not within %s: %s", within, seen)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// allowed says what is wrong with a change that the course made, or "".
func allowed(e change, ours map[string]bool) string {
	labelled := field(e.object, "metadata", "labels", "app.kubernetes.io/managed-by") == "controllings-testbed"
	name, namespace := field(e.object, "metadata", "name"), field(e.object, "metadata", "namespace")
	switch {
	case namespace != "":
		if ours[namespace] {
			return ""
		}
	case e.kind.name == "namespaces" && (strings.HasPrefix(name, "bed-") || strings.HasPrefix(name, "shared-")) && labelled,
		strings.HasPrefix(e.kind.name, "clusterrole") && strings.HasPrefix(name, "bed-") && labelled,
		e.kind.name == "customresourcedefinitions.apiextensions.k8s.io" && strings.HasSuffix(name, ".example.com") && labelled,
		e.kind.name == "nodes" && e.what == "MODIFIED": // compared as all else is
		return ""
	}
	return fmt.Sprintf("%s %s", e.what, key(e.kind, e.object))
}
