package component

// Etcd keeps the cluster's state.
func Etcd() Component {
	return Component{Name: "etcd", Args: func(Config) []string {
		return []string{
			"--name=controllings",
			"--data-dir=" + EtcdDir,
			// Sockets in a folder that only its owner may enter: on a loopback
			// port any user of the machine could read every Secret, and TLS
			// against that costs a tenth of the API server's start. A socket's
			// whole path must be short; a relative one is, wherever the folder
			// lies.
			"--listen-client-urls=" + EtcdSocket,
			"--advertise-client-urls=" + EtcdSocket,
			// With metrics and health on a socket of their own, the first speaks
			// gRPC only, which is quicker than telling the two apart.
			"--listen-client-http-urls=unix://etcd-http.sock",
			"--enable-grpc-gateway=false",
			// A member that is alone talks to no peer, but wants the address.
			"--listen-peer-urls=unix://etcd-peer.sock",
			"--initial-advertise-peer-urls=http://127.0.0.1:2380",
			"--initial-cluster=controllings=http://127.0.0.1:2380",

			// Not waiting for the disk at each write makes everything faster.
			// The price: a power cut may cost the data, which is a learner's
			// cluster and made again in seconds. A crash of etcd costs nothing.
			"--unsafe-no-fsync=true",
			"--log-format=console",
			"--log-level=warn",
		}
	}}
}

// Sockets are the files that etcd listens on. It removes them, unless it is
// killed.
func Sockets() []string { return []string{"etcd.sock", "etcd-http.sock", "etcd-peer.sock"} }

// EtcdSocket is where clients find etcd, from the control plane's folder.
const EtcdSocket = "unix://etcd.sock"
