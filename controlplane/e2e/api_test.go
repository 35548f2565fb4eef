package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// obj is a Kubernetes object.
type obj = map[string]any

// field returns what is at a path of names in an object, or nil.
func field(o obj, path ...string) any {
	var v any = o
	for _, p := range path {
		m, ok := v.(obj)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

// api is somebody who talks to the API server.
type api struct {
	t      *testing.T
	server string
	client *http.Client
	token  string
}

// admin returns the administrator of the cluster, which must be up.
func (c cluster) admin(t *testing.T) *api {
	t.Helper()
	pki := filepath.Join(c.dir, "pki")
	cert, err := tls.LoadX509KeyPair(filepath.Join(pki, "client-admin.crt"), filepath.Join(pki, "client-admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	a := c.anonymous(t)
	a.client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{cert}
	return a
}

func (c cluster) anonymous(t *testing.T) *api {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(c.dir, "pki", "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &api{t: t, server: c.status(t).Server, client: &http.Client{Transport: tr}}
}

// as returns somebody with a token.
func (c cluster) as(t *testing.T, token string) *api {
	a := c.anonymous(t)
	a.token = token
	return a
}

// do sends a request, and returns the answer whatever its status.
func (a *api) do(ctx context.Context, method, path string, body any) (int, obj) {
	a.t.Helper()
	var r io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			a.t.Fatal(err)
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.server+path, r)
	if err != nil {
		a.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return 0, obj{"message": err.Error()}
	}
	defer resp.Body.Close()
	var o obj
	if err := json.NewDecoder(resp.Body).Decode(&o); err != nil {
		return resp.StatusCode, obj{"message": err.Error()}
	}
	return resp.StatusCode, o
}

// create makes an object and returns it.
func (a *api) create(path string, o obj) obj {
	a.t.Helper()
	code, got := a.do(a.t.Context(), http.MethodPost, path, o)
	if code != http.StatusCreated {
		a.t.Fatalf("POST %s: %d %v", path, code, got["message"])
	}
	return got
}

func (a *api) delete(path string) {
	a.t.Helper()
	if code, got := a.do(a.t.Context(), http.MethodDelete, path, nil); code >= 300 {
		a.t.Fatalf("DELETE %s: %d %v", path, code, got["message"])
	}
}

// items lists.
func (a *api) items(ctx context.Context, path string) []any {
	a.t.Helper()
	_, got := a.do(ctx, http.MethodGet, path, nil)
	items, _ := got["items"].([]any)
	return items
}

// namespace makes a namespace for the test. It is deleted, not waited for.
func (a *api) namespace() string {
	a.t.Helper()
	name := strings.ToLower(a.t.Name())
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	o := a.create("/api/v1/namespaces", obj{"metadata": obj{"generateName": fmt.Sprintf("%.40s-", name)}})
	name = field(o, "metadata", "name").(string)
	a.t.Cleanup(func() { a.do(context.Background(), http.MethodDelete, "/api/v1/namespaces/"+name, nil) })
	// Pods can't be made before this is there.
	a.until("/api/v1/namespaces/"+name+"/serviceaccounts/default", func(code int, _ obj) bool { return code == http.StatusOK })
	return name
}

// until polls an object until ok.
func (a *api) until(path string, ok func(code int, o obj) bool) {
	a.t.Helper()
	a.untilWithin(patience, path, ok)
}

func (a *api) untilWithin(within time.Duration, path string, ok func(code int, o obj) bool) {
	a.t.Helper()
	eventually(a.t, within, func(ctx context.Context) string {
		code, o := a.do(ctx, http.MethodGet, path, nil)
		if ok(code, o) {
			return ""
		}
		status, _ := json.Marshal(o["status"])
		return fmt.Sprintf("%s: %d %s", path, code, status)
	})
}
