package plane

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// holdPort keeps a port for the API server for as long as the returned socket is
// open, so that it finds the same one after each restart. The socket is bound and
// never listens: who connects while the API server is down is refused, as they
// should be.
//
// Otherwise the kernel could give it to whoever asks for a free port in the
// meantime, as each bed's proxy does. Then the API server can't come back, and
// its clients talk to a stranger.
//
// Two sockets can have a port if both say so (SO_REUSEPORT) and are one user's.
func holdPort(port int) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("hold port %d: %w", port, err)
	}
	f := os.NewFile(uintptr(fd), "port")
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte(net.IPv4(127, 0, 0, 1).To4())})
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("hold port %d: %w", port, err)
	}
	return f, nil
}
