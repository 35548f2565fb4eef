package testbed

import (
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"strconv"
	"strings"
)

// environment is that of a process: this one's, without what could lead to
// another cluster, into the user's home, or to a check's secrets; and then extra.
// The first of two entries would win in a program, so there are no two.
func environment(env, extra []string) []string {
	set := map[string]bool{}
	for _, e := range extra {
		name, _, _ := strings.Cut(e, "=")
		set[name] = true
	}
	var kept []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		switch {
		case set[name], name == "KUBECONFIG", name == "HOME", name == "TMPDIR", name == "PWD", name == "GORACE", name == "GOCOVERDIR",
			strings.HasPrefix(name, "KUBERNETES_"), strings.HasPrefix(name, "LAB_"), strings.HasPrefix(name, "XDG_"):
		default:
			kept = append(kept, e)
		}
	}
	return append(kept, extra...)
}

var placeholder = regexp.MustCompile(`\{(address|port):([a-z0-9-]+)\}`)

// fillIn puts addresses in the place of {address:X} and {port:X}.
func (p *Process) fillIn(texts []string) ([]string, error) {
	filled := make([]string, len(texts))
	var failed error
	for i, text := range texts {
		filled[i] = placeholder.ReplaceAllStringFunc(text, func(s string) string {
			m := placeholder.FindStringSubmatch(s)
			address, ok := p.addresses[m[2]]
			if !ok {
				port, release, err := reservePort()
				if err != nil {
					failed = err
					return s
				}
				p.bed.t.Cleanup(release)
				address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
				p.addresses[m[2]] = address
			}
			if m[1] == "port" {
				_, port, _ := net.SplitHostPort(address)
				return port
			}
			return address
		})
	}
	return filled, failed
}

// Address is the loopback address that {address:X} stands for in the process's
// arguments, or "" if it doesn't stand there.
func (p *Process) Address(x string) string { return p.addresses[x] }

// The ports that processes get. They lie below those that Linux and macOS give
// to outgoing connections, one of which could take a port between its choice and
// the process's start.
const (
	firstPort = 20000
	ports     = 10000
)

// reservePort finds a port of 127.0.0.1 that nobody listens on, and keeps it from
// other testbeds until release: each holds the UDP port of the same number, of
// which only one can be had, and which goes with its process.
func reservePort() (port int, release func(), err error) {
	for range 100 {
		port = firstPort + rand.IntN(ports)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		held, err := net.ListenPacket("udp4", address)
		if err != nil {
			continue
		}
		listener, err := net.Listen("tcp4", address)
		if err != nil {
			held.Close()
			continue
		}
		listener.Close()
		return port, func() { held.Close() }, nil
	}
	return 0, nil, fmt.Errorf("no port from %d to %d is free", firstPort, firstPort+ports-1)
}
