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

// takePort chooses a port and holds it; see holdPort.
func (d Dir) takePort(fresh bool) (component.Config, *os.File, error) {
	for try := 1; ; try++ {
		c, err := d.choosePort(fresh)
		if err != nil {
			return c, nil, err
		}
		hold, err := holdPort(c.APIPort)
		if err == nil || try == 4 {
			return c, hold, err
		}
		fresh = true // somebody took it in this moment
	}
}

// choosePort returns last time's port of the API server if it is still free, so
// that kubeconfigs handed out stay valid, and a free one otherwise. With fresh
// it does not keep the old one. Between looking and using, another process may
// take the port; the API server then fails to bind, and the caller chooses
// again.
func (d Dir) choosePort(fresh bool) (component.Config, error) {
	var c component.Config
	if data, err := os.ReadFile(d.portsFile()); err == nil && !fresh {
		_ = json.Unmarshal(data, &c) // unreadable is the same as none
	}
	l, err := net.Listen("tcp", loopback(c.APIPort))
	if err != nil {
		l, err = net.Listen("tcp", loopback(0))
	}
	if err != nil {
		return c, withHint(fmt.Errorf("find a free port on 127.0.0.1: %w", err), "see whether a firewall or sandbox forbids listening on 127.0.0.1")
	}
	c.APIPort = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
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
