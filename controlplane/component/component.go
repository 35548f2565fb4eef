package component

import (
	"fmt"
	"strconv"
)

// Config is what the components' flags depend on.
type Config struct {
	APIPort int // of kube-apiserver, on 127.0.0.1
}

// Server is the API server's address.
func (c Config) Server() string { return fmt.Sprintf("https://127.0.0.1:%d", c.APIPort) }

// Component is a part of the control plane.
type Component struct {
	// Name is the program's own, and the hidden command by which the
	// multi-call binary becomes it.
	Name string
	// Args returns its flags.
	Args func(Config) []string
}

// All returns the components in the order in which they are started.
func All() []Component {
	return []Component{Etcd(), APIServer(), ControllerManager(), Scheduler(), Kwok()}
}

// Names returns the components' names in the order of All.
func Names() []string {
	var out []string
	for _, c := range All() {
		out = append(out, c.Name)
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }
