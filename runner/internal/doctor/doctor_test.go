package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/cluster"
	"github.com/controllings/controllings/runner/internal/report"
)

// provider is a cluster in a given state.
type provider struct {
	name  string
	state cluster.State
	err   error
	file  string
}

func (p provider) Name() string                                  { return p.name }
func (p provider) Up(context.Context) error                      { return nil }
func (p provider) Down(context.Context) error                    { return nil }
func (p provider) Status(context.Context) (cluster.State, error) { return p.state, p.err }
func (p provider) Kubeconfig() string                            { return p.file }

// course is a checkout that has what is looked for.
func course(t *testing.T) Options {
	t.Helper()
	o := Options{Root: filepath.Join(t.TempDir(), "a course 控制器")}
	o.Home = filepath.Join(o.Root, ".lab")
	o.Cluster = provider{name: "embedded", state: cluster.State{State: cluster.Down}, file: filepath.Join(o.Home, "kubeconfig")}
	put(t, o.Root, "go.work", "go 1.26.0\n\nuse ./todo\n")
	for _, f := range []string{"chapters/01-x/go.mod", "solutions/01-x/go.mod", "testbed/go.mod", "todo/go.mod", "controlplane/go.mod"} {
		put(t, o.Root, f, "module example.com/"+filepath.Base(filepath.Dir(f))+"\n\ngo 1.26.0\n")
		put(t, o.Root, filepath.Dir(f)+"/x.go", "package x\n")
	}
	return o
}

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// want compares a finding; words are in Found, mend in Mend.
func want(t *testing.T, f Finding, status Status, words, mend string) {
	t.Helper()
	assert.Equal(t, status, f.Status, "%+v", f)
	assert.Contains(t, f.Found, words)
	assert.Contains(t, f.Mend, mend)
	assert.Equal(t, f.Status == OK, f.Mend == "", "a mend, just where there is something to mend: %+v", f)
}

// scripts makes these shell scripts the only programs on PATH.
func scripts(t *testing.T, bodies map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, body := range bodies {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body), 0o700))
	}
	t.Setenv("PATH", dir)
}

func TestGoVersion(t *testing.T) {
	o := course(t)
	want(t, goVersion(t.Context(), o), OK, "the course needs go1.26.0", "")
	put(t, o.Root, "go.work", "go 1.999.0\n")
	t.Setenv("GOTOOLCHAIN", "local")
	want(t, goVersion(t.Context(), o), Failed, "is too old: the course needs go1.999.0", "go env -w GOTOOLCHAIN=auto")
	put(t, o.Root, "go.work", "use ./todo\n")
	want(t, goVersion(t.Context(), o), Failed, "names no version", "whole checkout")
	put(t, o.Root, "go.work", "go 1.26.0\n")
	t.Setenv("GOTOOLCHAIN", "")
	scripts(t, map[string]string{"go": `case $2 in GOVERSION) [ "$GOTOOLCHAIN" = local ] && echo go1.21.3 || echo go1.26.0 ;; esac`})
	want(t, goVersion(t.Context(), o), OK, "go1.21.3, which has fetched go1.26.0 by itself", "")
	scripts(t, map[string]string{"go": `echo go1.21.3`})
	want(t, goVersion(t.Context(), o), Failed, "go1.21.3 is too old", "https://go.dev/dl/")
	scripts(t, map[string]string{"go": `echo "bad interpreter" >&2; exit 1`})
	want(t, goVersion(t.Context(), o), Failed, "bad interpreter", "go version")
	scripts(t, nil)
	want(t, goVersion(t.Context(), o), Failed, "not on PATH", "https://go.dev/dl/")
}

func TestGoSettings(t *testing.T) {
	o := course(t)
	for _, name := range []string{"GOFLAGS", "GOWORK", "GO111MODULE", "GOOS", "GOARCH"} {
		t.Setenv(name, "")
	}
	want(t, goSettings(t.Context(), o), OK, "nothing in the way", "")
	for _, c := range []struct {
		name, value string
		status      Status
		words, mend string
	}{
		{"GOFLAGS", "-buildvcs=false", OK, "(GOFLAGS=-buildvcs=false)", ""},
		{"GOFLAGS", "-v -mod=vendor", Failed, "-mod=vendor", "unset GOFLAGS"},
		{"GOFLAGS", "-overlay=/x.json", Failed, "-overlay=/x.json", "unset GOFLAGS"},
		{"GOFLAGS", "-trimpath", Warning, "compiled twice", "unset GOFLAGS"},
		{"GOOS", "plan9", Failed, "GOOS=plan9", "unset GOOS"},
		{"GO111MODULE", "off", Failed, "made of modules", "unset GO111MODULE"},
		{"GOWORK", "/elsewhere/go.work", Warning, "/elsewhere/go.work", "unset GOWORK"},
		{"GOWORK", "off", OK, "", ""},
		{"GOWORK", filepath.Join(o.Root, "chapters", "..", "go.work"), OK, "", ""},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			want(t, goSettings(t.Context(), o), c.status, c.words, c.mend)
		})
	}
	env := put(t, t.TempDir(), "env", "GOFLAGS=-mod=vendor\n")
	t.Setenv("GOENV", env)
	require.NoError(t, os.Unsetenv("GOFLAGS"))
	want(t, goSettings(t.Context(), o), Failed, "-mod=vendor", "go env -u GOFLAGS")
	scripts(t, nil)
	want(t, goSettings(t.Context(), o), Failed, "not on PATH", "https://go.dev/dl/")
}

func TestTools(t *testing.T) {
	o := course(t)
	want(t, git(t.Context(), o), OK, "2.", "")
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("CC", "no-such-compiler")
	want(t, compiler(t.Context(), o), Warning, "no no-such-compiler on PATH", "install gcc or clang")
	t.Setenv("CC", "sh")
	t.Setenv("CGO_ENABLED", "0")
	want(t, compiler(t.Context(), o), Warning, "CGO_ENABLED=0", "unset CGO_ENABLED")

	scripts(t, nil)
	want(t, git(t.Context(), o), Failed, "not on PATH", "install git")
	want(t, docker(t.Context(), o), Failed, "not on PATH", "install Docker")
	want(t, compiler(t.Context(), o), Warning, "the go command does not run", "nothing else needs it")
	scripts(t, map[string]string{
		"git":    "echo 'xcrun: error: no developer tools' >&2; exit 1",
		"docker": "echo 'Cannot connect to the Docker daemon' >&2; exit 1",
		"go":     "echo cc; echo 1",
		"cc":     "echo 'cc (GCC) 14'",
	})
	want(t, git(t.Context(), o), Failed, "no developer tools", "xcode-select")
	want(t, docker(t.Context(), o), Failed, "Cannot connect", "docker info")
	want(t, compiler(t.Context(), o), OK, "cc (GCC) 14", "")
	scripts(t, map[string]string{"docker": "echo 29.0", "go": "echo cc; echo 1", "cc": "exit 1"})
	want(t, docker(t.Context(), o), OK, "29.0", "")
	want(t, compiler(t.Context(), o), Warning, "cc does not run", "install gcc")
}

// mount mounts a file system for the time of a test, where that is allowed.
func mount(t *testing.T, dir, options string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "lab-doctor", dir).CombinedOutput(); err != nil {
		t.Skipf("to mount a file system isn't allowed here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
}

func TestCheckout(t *testing.T) {
	o := course(t)
	want(t, checkout(t.Context(), o), OK, o.Root, "")
	assert.Empty(t, leftovers(t, o.Root))
	require.NoError(t, os.Remove(filepath.Join(o.Root, "todo/go.mod")))
	want(t, checkout(t.Context(), o), Failed, "todo/go.mod", "git status")

	o = course(t)
	colon := o
	colon.Root = filepath.Join(t.TempDir(), "a:b")
	require.NoError(t, os.Rename(o.Root, colon.Root))
	want(t, checkout(t.Context(), colon), Failed, `has a ':'`, "without ':'")

	t.Run("not executable", func(t *testing.T) {
		o := course(t)
		mounted := o
		mounted.Root = filepath.Join(t.TempDir(), "noexec")
		mount(t, mounted.Root, "noexec")
		require.NoError(t, os.CopyFS(mounted.Root, os.DirFS(o.Root)))
		want(t, checkout(t.Context(), mounted), Failed, "can't be run", "noexec")
	})
	t.Run("read-only", func(t *testing.T) {
		o := course(t)
		chapters := filepath.Join(o.Root, "chapters")
		if os.Geteuid() == 0 { // whom no mode keeps out
			mount(t, chapters, "ro")
		} else {
			require.NoError(t, os.Chmod(chapters, 0o500))
			t.Cleanup(func() { _ = os.Chmod(chapters, 0o700) })
		}
		want(t, checkout(t.Context(), o), Failed, "can't be written", "chown -R")
	})
}

// leftovers of what was tried out.
func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), "doctor") {
			all = append(all, path)
		}
		return err
	}))
	return all
}

func TestHome(t *testing.T) {
	o := course(t)
	want(t, home(t.Context(), o), OK, o.Home, "")
	_, err := os.Stat(o.Home)
	assert.ErrorIs(t, err, os.ErrNotExist, "it was only looked at")

	kubeconfig := put(t, o.Home, "clusters/embedded/kubeconfig", "")
	current := put(t, o.Home, "kubeconfig", "")
	want(t, home(t.Context(), o), OK, o.Home, "")
	assert.Empty(t, leftovers(t, o.Home))
	require.NoError(t, os.Chmod(current, 0o644))
	want(t, home(t.Context(), o), Failed, "can be read by others (mode 644)", "chmod 600 '"+current+"'")
	require.NoError(t, os.Chmod(current, 0o600))

	t.Run("another user's", func(t *testing.T) {
		if os.Chown(filepath.Dir(kubeconfig), 12345, -1) != nil {
			t.Skip("only root can give a file away")
		}
		want(t, home(t.Context(), o), Failed, "belongs to another user (id 12345)", "sudo chown -R")
	})
	o.Home = filepath.Join(put(t, t.TempDir(), "file", ""), "below")
	want(t, home(t.Context(), o), Failed, "not a directory", "export LAB_HOME=")
	o.Home = put(t, t.TempDir(), "file", "")
	want(t, home(t.Context(), o), Failed, "is no folder", "export LAB_HOME=")
	o.Home = filepath.Join(t.TempDir(), strings.Repeat("deep/", 780))
	want(t, home(t.Context(), o), Failed, "bytes long", "export LAB_HOME=")
	o.Home = "/a:b"
	want(t, home(t.Context(), o), Failed, `has a ':'`, "export LAB_HOME=")
	t.Run("read-only", func(t *testing.T) {
		o.Home = t.TempDir()
		if os.Geteuid() == 0 {
			mount(t, o.Home, "ro")
		} else {
			require.NoError(t, os.Chmod(o.Home, 0o500))
		}
		want(t, home(t.Context(), o), Failed, "can't be written", "export LAB_HOME=")
	})
}

func TestDisk(t *testing.T) {
	o := course(t)
	put(t, o.Root, "bin/controlplane", "built")
	device, free, err := space(o.Root)
	require.NoError(t, err)
	assert.NotZero(t, device)
	if free < 4*giga {
		t.Skip("this disk is too full to show that a disk with room is well")
	}
	want(t, disk(t.Context(), o), OK, "GB free for the course", "")
	t.Run("full", func(t *testing.T) {
		o := course(t)
		o.Home = filepath.Join(t.TempDir(), "small")
		mount(t, o.Home, "size=2m")
		want(t, disk(t.Context(), o), Failed, "MB free for LAB_HOME, and about 1.0 GB is needed", "LAB_HOME=")
	})
}

func TestMemory(t *testing.T) {
	have, err := memorySize(t.Context())
	require.NoError(t, err)
	assert.Greater(t, have, uint64(giga/4))
	want(t, enoughMemory(16*giga, false), OK, "16.0 GB", "")
	want(t, enoughMemory(2*giga, false), Warning, "about 4 GB", "GOFLAGS=-p=1")
	want(t, enoughMemory(2*giga, true), OK, "2.0 GB", "")
	want(t, enoughMemory(giga, true), Failed, "1.0 GB", "4 GB")
}

// again runs one test of this binary by the shell's words, as a process of its
// own: it begins with another limit, another environment, or without a network.
func again(t *testing.T, shell string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", shell+` "$0" -test.run "^TestChild$" -test.v`, os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "DOCTOR_CHILD=1")...)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "TestChild") {
		t.Skipf("can't be done here: %s", out)
	}
	require.NoError(t, err, "%s", out)
	return string(out)
}

// TestChild tells what some checks find in the process that again starts.
func TestChild(t *testing.T) {
	if os.Getenv("DOCTOR_CHILD") == "" {
		t.Skip("this is what other tests start")
	}
	for name, look := range map[string]func(context.Context, Options) Finding{"limits": limits, "loopback": loopback, "proxy": httpProxy} {
		f := look(t.Context(), Options{})
		t.Logf("%s %s: %s (%s)", name, f.Status, f.Found, f.Mend)
	}
}

func TestLimits(t *testing.T) {
	want(t, limits(t.Context(), Options{}), OK, "open files: ", "")
	assert.Contains(t, again(t, "ulimit -n 200 && exec"), "limits failed: 200 open files at most")
}

func TestLoopback(t *testing.T) {
	want(t, loopback(t.Context(), Options{}), OK, "127.0.0.1", "")
	t.Run("without a network", func(t *testing.T) {
		// A network of its own, where even loopback is down.
		assert.Contains(t, again(t, "exec unshare -n"), "loopback failed: can't reach an own port")
	})
}

func TestHTTPProxy(t *testing.T) {
	var none []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		none = append(none, name+"=", strings.ToLower(name)+"=")
	}
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"none":      {nil, "proxy ok: none is set"},
		"one":       {[]string{"HTTPS_PROXY=http://me:secret@proxy.example.com:3128"}, "proxy warning: HTTPS_PROXY=http://me:xxxxx@proxy.example.com:3128: the course's programs reach 127.0.0.1 all the same"},
		"no scheme": {[]string{"https_proxy=me:secret@proxy.example.com"}, "proxy warning: https_proxy=…@proxy.example.com: "},
		"direct":    {[]string{"HTTPS_PROXY=proxy.example.com", "no_proxy=localhost, 127.0.0.0/8"}, "proxy ok: HTTPS_PROXY=proxy.example.com, for what is outside"},
		"broken":    {[]string{"HTTPS_PROXY=http://[::1"}, "proxy failed: HTTPS_PROXY=http://[::1 is no address"},
	} {
		t.Run(name, func(t *testing.T) {
			out := again(t, "exec", append(none, c.env...)...)
			assert.Contains(t, out, c.want)
			assert.NotContains(t, out, "secret")
		})
	}
}

func TestModules(t *testing.T) {
	o := course(t)
	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(r.URL.Path, "/sigs.k8s.io/yaml/@v/") {
		case "list":
			_, _ = w.Write([]byte("v1.0.0\n"))
		case "v1.0.0.info":
			_, _ = w.Write([]byte(`{"Version":"v1.0.0"}`))
		case "v1.0.0.mod":
			_, _ = w.Write([]byte("module sigs.k8s.io/yaml\n"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer answers.Close()
	t.Setenv("GOMODCACHE", t.TempDir()) // the one that is everybody's must not learn of this module
	t.Setenv("GOPROXY", answers.URL)
	want(t, modules(t.Context(), o), OK, "GOPROXY="+answers.URL+" answers", "")

	t.Setenv("GOPROXY", "http://me:secret@127.0.0.1:1,direct")
	f := modules(t.Context(), o) // which needs no module
	want(t, f, Warning, "but all modules that are needed are in the cache", "nothing")
	assert.NotContains(t, f.Found, "secret")
	t.Setenv("GOPROXY", "off")
	want(t, modules(t.Context(), o), Warning, "GOPROXY=off", "")
	put(t, o.Root, "testbed/go.mod", "module example.com/testbed\n\ngo 1.26.0\n\nrequire example.com/far v1.0.0\n")
	put(t, o.Root, "testbed/x.go", "package x\n\nimport _ \"example.com/far\"\n")
	want(t, modules(t.Context(), o), Failed, "modules of testbed are not in the cache yet", "go env -w GOPROXY=")

	t.Run("silent", func(t *testing.T) {
		silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		defer silent.Close()
		t.Setenv("GOPROXY", silent.URL)
		want(t, modules(t.Context(), o), Failed, "no answer", "")
	})
	scripts(t, nil)
	want(t, modules(t.Context(), o), Failed, "not on PATH", "https://go.dev/dl/")
}

// certificate is one that signs itself.
func certificate(t *testing.T, from, to time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to},
		&x509.Certificate{SerialNumber: big.NewInt(1)}, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestClock(t *testing.T) {
	o := course(t)
	t.Setenv("GOPROXY", "off")
	want(t, clock(t.Context(), o), OK, "no other clock", "")
	t.Setenv("GOPROXY", "http://127.0.0.1:1")
	want(t, clock(t.Context(), o), OK, "no other clock", "")

	off := time.Duration(0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
	}))
	defer server.Close()
	t.Setenv("GOPROXY", server.URL+",direct")
	want(t, clock(t.Context(), o), OK, "agrees with files and with "+server.URL, "")
	off = time.Hour
	want(t, clock(t.Context(), o), Warning, "differs from that of "+server.URL, "NTP")

	now := time.Now()
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.TLS = &tls.Config{Certificates: []tls.Certificate{certificate(t, now.Add(-2*time.Hour), now.Add(-time.Hour))}}
	old.Config.ErrorLog = log.New(io.Discard, "", 0) // of the client that turns away
	old.StartTLS()
	defer old.Close()
	t.Setenv("GOPROXY", old.URL)
	want(t, clock(t.Context(), o), Failed, "the certificate of "+old.URL+" is not good", "NTP")

	t.Setenv("GOPROXY", "off")
	for words, span := range map[string][2]time.Time{
		"the clock was set back": {now.Add(time.Hour), now.Add(2 * time.Hour)},
		"was good until":         {now.Add(-2 * time.Hour), now.Add(-time.Hour)},
	} {
		cert := certificate(t, span[0], span[1])
		put(t, o.Home, "clusters/embedded/pki/ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})))
		want(t, clock(t.Context(), o), Failed, words, "NTP")
	}
	put(t, o.Home, "clusters/embedded/pki/ca.crt", "garbage")
	want(t, clock(t.Context(), o), OK, "no other clock", "")
}

func TestClusterState(t *testing.T) {
	o := course(t)
	p := provider{name: "embedded", file: filepath.Join(o.Home, "kubeconfig"), state: cluster.State{State: cluster.Down}}
	look := func() Finding { o.Cluster = p; return clusterState(t.Context(), o) }
	want(t, look(), OK, "is not built yet", "")
	put(t, o.Root, "bin/controlplane", "built")
	want(t, look(), OK, "embedded is down: a chapter starts it", "")
	put(t, o.Home, "kubeconfig", "")
	want(t, look(), Warning, "did not end in order", "make cluster-down")
	p.state = cluster.State{State: cluster.Up, Kubernetes: "v1.37.2", Server: "https://127.0.0.1:1"}
	want(t, look(), OK, "Kubernetes v1.37.2 at https://127.0.0.1:1", "")
	p.state = cluster.State{State: cluster.Degraded, Reason: "etcd has failed\nits log"}
	want(t, look(), Failed, "not well: etcd has failed", "make cluster-down cluster-up")
	p.err = errors.New("no such file")
	want(t, look(), Failed, "no such file", "make cluster-down cluster-up")
}

func TestEachCheckHasItsTime(t *testing.T) {
	c := check{"slow", 10 * time.Millisecond, func(context.Context, Options) Finding { select {} }, stuck}
	f := c.run(t.Context(), Options{})
	assert.Equal(t, Finding{"slow", Failed, "no answer within 10ms", stuck.Mend}, f)
	for _, c := range checks(course(t)) {
		assert.NotEqual(t, OK, c.slow.Status, c.name)
		assert.NotEmpty(t, c.slow.Mend, c.name)
		assert.LessOrEqual(t, c.limit, 20*time.Second, c.name)
	}
}

func TestDockerIsForKindAlone(t *testing.T) {
	o := course(t)
	names := func() (all []string) {
		for _, c := range checks(o) {
			all = append(all, c.name)
		}
		return all
	}
	assert.NotContains(t, names(), "docker")
	o.Cluster = provider{name: "kind"}
	assert.Contains(t, names(), "docker")
}

func TestRun(t *testing.T) {
	o := course(t)
	r := Run(t.Context(), o)
	for i, c := range checks(o) {
		assert.Equal(t, c.name, r.Checks[i].Name)
	}
	assert.Equal(t, 1, r.Version)
	scripts(t, nil)
	assert.False(t, Run(t.Context(), o).OK)
	assert.Empty(t, leftovers(t, o.Root))
}

func TestText(t *testing.T) {
	var out strings.Builder
	r := Report{Checks: []Finding{{"go", OK, "go1.26.0", ""}, {"C compiler", Warning, "none", "install one"}, {"git", Failed, "a\nb", "install git"}}}
	require.NoError(t, r.Text(&out, report.Style{}))
	assert.Equal(t, `✓ go           go1.26.0
! C compiler   none
               mend: install one
✗ git          a
               b
               mend: install git

one thing has to be mended
`, out.String())
}
