package plane

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The fake API server keeps what it knows in files of the control plane's
// folder, its working directory, so that it outlives a restart:
//
//	etcd-serves is there once etcd has been up: before, it is not ready
//	unready     is there while it says that it is not ready
//	nodes/NAME  an added node, and by whom; node-3 is somebody else's
//	compacted   is there once etcd has forgotten; a line for each list at an old
//	            revision since then, of which the first few are still answered
const stillAnswered = 3

// serve answers as an API server in which everything is there at once.
func serve(args []string) {
	var port string
	for _, a := range args {
		if p, ok := strings.CutPrefix(a, "--secure-port="); ok {
			port = p
		}
	}
	shared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
	}}
	l, err := shared.Listen(context.Background(), "tcp", "127.0.0.1:"+port)
	if err == nil {
		err = http.ServeTLS(l, http.HandlerFunc(answer), "pki/apiserver.crt", "pki/apiserver.key")
	}
	fmt.Println(err)
	os.Exit(1)
}

func answer(w http.ResponseWriter, r *http.Request) {
	name, isNode := strings.CutPrefix(r.URL.Path, "/api/v1/nodes/")
	file := filepath.Join("nodes", name)
	_, serves := os.Stat("etcd-serves")
	switch _, err := os.Stat("unready"); {
	case err == nil || serves != nil:
		w.WriteHeader(http.StatusInternalServerError)
	case r.URL.Path == "/api":
		fmt.Fprint(w, `{"items":[{"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"nodes","verbs":["get","list"]},{"resource":"bindings","verbs":["create"]},{"resource":"componentstatuses","verbs":["list"]}]}]}]}`)
	case r.URL.Path == "/apis":
		fmt.Fprint(w, `{"items":[{"metadata":{"name":"apps"},"versions":[{"version":"v1","freshness":"Current","resources":[{"resource":"deployments","verbs":["list"]}]}]},`+
			`{"metadata":{"name":"gone"},"versions":[{"version":"v1","freshness":"Stale","resources":[{"resource":"things","verbs":["list"]}]}]}]}`)
	case r.URL.Path == "/api/v1/componentstatuses":
		fmt.Fprint(w, `{"metadata":{},"items":[{}]}`) // whatever it is asked for
	case r.URL.Query().Get("resourceVersion") == "77":
		old(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/api/v1/nodes":
		var made struct {
			Metadata struct {
				Name   string
				Labels map[string]string
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&made)
		by, added := made.Metadata.Labels[addedLabel]
		file := filepath.Join("nodes", made.Metadata.Name)
		if _, err := os.Stat(file); err == nil || !added || made.Metadata.Name == "node-3" {
			w.WriteHeader(http.StatusConflict) // it is there from before
			return
		}
		_ = os.MkdirAll("nodes", 0o700)
		_ = os.WriteFile(file, []byte(by), 0o600)
		fmt.Fprint(w, "{}")
	case r.Method == http.MethodDelete && isNode:
		_ = os.Remove(file)
		fmt.Fprint(w, "{}")
	case r.URL.Path == "/api/v1/nodes":
		list(w, r.URL.Query().Get("labelSelector"))
	}
}

func list(w http.ResponseWriter, selector string) {
	var items []string
	files, _ := filepath.Glob("nodes/*")
	for _, f := range files {
		by, _ := os.ReadFile(f)
		if selector == addedLabel || selector == addedLabel+"="+string(by) {
			items = append(items, fmt.Sprintf(`{"metadata":{"name":%q},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, filepath.Base(f)))
		}
	}
	fmt.Fprintf(w, `{"metadata":{"resourceVersion":"77"},"items":[%s]}`, strings.Join(items, ","))
}

// old answers a list at an old revision.
func old(w http.ResponseWriter, r *http.Request) {
	data, err := os.ReadFile("compacted")
	if err == nil {
		data = append(data, (r.URL.Path + "\n")...)
		_ = os.WriteFile("compacted", data, 0o600)
		if strings.Count(string(data), "\n") > stillAnswered {
			w.WriteHeader(http.StatusGone)
			return
		}
	}
	fmt.Fprint(w, `{"metadata":{"resourceVersion":"77"}}`)
}

// fakeCompact stands for etcd's.
func fakeCompact(context.Context) (int64, error) {
	if _, err := os.Stat("no-compact"); err == nil {
		return 0, fmt.Errorf("no leader")
	}
	return 78, os.WriteFile("compacted", nil, 0o600)
}
