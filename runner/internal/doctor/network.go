package doctor

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// loopback tries a port of the kind that the API server and the proxies take.
func loopback(ctx context.Context, _ Options) Finding {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return failed("see that the loopback interface is up, and that you may use it", "can't listen on 127.0.0.1: %v", err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.WriteString(c, "here")
			_ = c.Close()
		}
	}()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp4", l.Addr().String())
	if err != nil {
		return failed("a firewall may be in the way: allow loopback traffic", "can't reach an own port on 127.0.0.1: %v", err)
	}
	defer c.Close()
	if data, err := io.ReadAll(c); err != nil || string(data) != "here" {
		return failed("something that filters traffic may be in the way: leave 127.0.0.1 alone there", "a connection on 127.0.0.1 carries %q instead of what was sent (%v)", data, err)
	}
	return ok("ports on 127.0.0.1 work")
}

// httpProxy says what the proxy variables mean here. Go's programs, which the
// course is made of, never send loopback traffic to a proxy; others may.
func httpProxy(context.Context, Options) Finding {
	set := map[string]string{}
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		if value := os.Getenv(name); value != "" {
			set[name] = redact(value)
		}
	}
	if len(set) == 0 {
		return ok("none is set")
	}
	var list []string
	for name, value := range set {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	vars := strings.Join(list, " ")
	for name, value := range set {
		if !isProxy(os.Getenv(name)) {
			return failed("export "+name+"=http://HOST:PORT, or unset it", "%s=%s is no address of a proxy", name, value)
		}
	}
	for _, own := range []url.URL{{Scheme: "https", Host: "127.0.0.1:6443"}, {Scheme: "http", Host: "localhost:8080"}} {
		if to, err := http.ProxyFromEnvironment(&http.Request{URL: &own}); err != nil || to != nil {
			return failed("export NO_PROXY=127.0.0.1,localhost", "%s would take the course's own traffic to %s", vars, own.Host)
		}
	}
	direct := strings.Split(os.Getenv("NO_PROXY")+","+os.Getenv("no_proxy"), ",")
	for i := range direct {
		direct[i] = strings.TrimSpace(direct[i])
	}
	if !slices.Contains(direct, "*") && !(slices.Contains(direct, "localhost") && slices.ContainsFunc(direct, func(d string) bool { return strings.HasPrefix(d, "127.") })) {
		return warn("export NO_PROXY=127.0.0.1,localhost,$NO_PROXY", "%s: the course's programs reach 127.0.0.1 all the same, but curl and a browser may look for it behind the proxy", vars)
	}
	return ok("%s, for what is outside", vars)
}

// isProxy reports whether an address is one of a proxy that Go can use; without a
// scheme it is an HTTP one.
func isProxy(address string) bool {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)
}

// redact takes the password out of an address.
func redact(address string) string {
	if u, err := url.Parse(address); err == nil && u.User != nil {
		return u.Redacted()
	}
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		return "…@" + address[at+1:]
	}
	return address
}

// asked is a module that the course needs, with few versions: asking for them is
// the smallest thing that shows that a module proxy answers. It is not cached.
const asked = "sigs.k8s.io/yaml"

// modules asks the module proxy for something, by the go command, as the user has
// set it up.
func modules(ctx context.Context, o Options) Finding {
	if _, err := exec.LookPath("go"); err != nil {
		return failed(installGo, "the go command is not on PATH")
	}
	proxy := goProxy(ctx, o)
	asking, cancel := context.WithTimeout(ctx, 6*time.Second)
	defer cancel()
	env := []string{"GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=", "GO111MODULE=on", "GIT_TERMINAL_PROMPT=0"}
	// What comes is not used, so nobody has to vouch for it: go.sum does for what is.
	_, err := command(asking, os.TempDir(), append(env, "GOSUMDB=off"), "go", "list", "-m", "-versions", asked)
	if err == nil {
		return ok("GOPROXY=%s answers", proxy)
	}
	why := firstLine(err.Error())
	if asking.Err() != nil {
		why = "no answer"
	}
	need := []string{"testbed", filepath.Join("chapters", firstChapter(o.Root))}
	if !built(o) {
		need = append(need, "controlplane")
	}
	for _, module := range need {
		env := append(env, "GOPROXY=off")
		if _, err := command(ctx, filepath.Join(o.Root, module), env, "go", "list", "-mod=readonly", "-deps", "./..."); err != nil {
			return failed("see that the network is up, or name a proxy that you can reach: go env -w GOPROXY=https://…; or take a bundle from somebody who has one",
				"GOPROXY=%s: %s; and modules of %s are not in the cache yet", proxy, why, module)
		}
	}
	return warn("nothing, until the course's versions change", "GOPROXY=%s: %s; but all modules that are needed are in the cache", proxy, why)
}

// goProxy is what the go command is set to, without passwords.
func goProxy(ctx context.Context, o Options) string {
	text, err := command(ctx, o.Root, []string{"GOTOOLCHAIN=local", "GOWORK=off"}, "go", "env", "GOPROXY")
	if err != nil {
		return "?"
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '|' })
	for i := range parts {
		parts[i] = redact(parts[i])
	}
	return strings.Join(parts, ",")
}

func firstChapter(root string) string {
	entries, _ := os.ReadDir(filepath.Join(root, "chapters"))
	for _, e := range entries {
		if e.IsDir() {
			return e.Name()
		}
	}
	return ""
}
