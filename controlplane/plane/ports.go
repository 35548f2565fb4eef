package plane

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/files"
)

// choosePorts returns last time's ports where they are still free, so that
// kubeconfigs handed out stay valid, and free ones otherwise. With fresh it
// keeps none. Between looking and using, another process may take a port; the
// component then fails to bind, and the caller chooses again.
func (d Dir) choosePorts(fresh bool) (component.Config, error) {
	var c component.Config
	if data, err := os.ReadFile(d.portsFile()); err == nil && !fresh {
		_ = json.Unmarshal(data, &c) // unreadable is the same as none
	}
	var open []net.Listener // held until all are chosen, so that no two are the same
	defer func() {
		for _, l := range open {
			_ = l.Close()
		}
	}()
	for _, p := range []*int{&c.APIPort, &c.EtcdPort} {
		l, err := net.Listen("tcp", loopback(*p))
		if err != nil {
			l, err = net.Listen("tcp", loopback(0))
		}
		if err != nil {
			return c, withHint(fmt.Errorf("find a free port on 127.0.0.1: %w", err), "see whether a firewall or sandbox forbids listening on 127.0.0.1")
		}
		open = append(open, l)
		*p = l.Addr().(*net.TCPAddr).Port
	}
	data, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	return c, files.Write(d.portsFile(), append(data, '\n'))
}

func loopback(port int) string {
	// A damaged file may hold anything; 0 lets the kernel choose.
	if port < 0 || port > 65535 {
		port = 0
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
