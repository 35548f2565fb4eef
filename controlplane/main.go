// Controlplane is Kubernetes in one binary: etcd, the API server, the
// controller manager, the scheduler and simulated nodes, each a process of its
// own under a supervisor, with all they need in one folder.
//
//	controlplane up --dir DIR      start, and wait until the cluster is usable
//	controlplane status --dir DIR
//	controlplane kubectl get nodes
//	controlplane down --dir DIR
//
// The packages, from the bottom up: files, supervise and certs know nothing of
// each other; component says how each program is started; endpoint lets others
// stop, start and kill them; plane makes one control plane of all that; command
// is the command line. Beside them stands
// upstream, the programs themselves.
package main

import (
	"os"
	"path/filepath"

	"github.com/controllings/controllings/controlplane/command"
	"github.com/controllings/controllings/controlplane/plane"
	"github.com/controllings/controllings/controlplane/upstream"
)

func main() {
	// "controlplane etcd …" is etcd, and sees the arguments it would see as a
	// program of its own.
	if len(os.Args) > 1 {
		if run, ok := upstream.Mains()[os.Args[1]]; ok {
			plane.Tether()
			if os.Args[1] == "kubectl" {
				command.PrepareKubectl(os.Args[2:])
			}
			os.Args = append([]string{filepath.Base(os.Args[1])}, os.Args[2:]...)
			os.Exit(run())
		}
	}
	os.Exit(command.Execute(command.Upstream{Stages: upstream.Stages(), Compact: upstream.Compact}))
}
