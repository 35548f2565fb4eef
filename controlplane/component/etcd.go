package component

// Etcd keeps the cluster's state.
func Etcd() Component {
	return Component{Name: "etcd", Env: runtime("100"), Args: func(c Config) []string {
		return []string{
			"--name=controllings",
			"--data-dir=" + EtcdDir,
			"--listen-client-urls=" + c.Etcd(),
			"--advertise-client-urls=" + c.Etcd(),
			// A member that is alone talks to no peer. It still wants an address
			// to listen on: port 0 is whichever is free, and nobody needs to
			// know which. The advertised one only names the member.
			"--listen-peer-urls=https://127.0.0.1:0",
			"--initial-advertise-peer-urls=https://127.0.0.1:2380",
			"--initial-cluster=controllings=https://127.0.0.1:2380",

			// Loopback is shared by all users of the machine: without client
			// certificates any of them could read every Secret.
			"--cert-file=" + PKIDir + "/etcd.crt",
			"--key-file=" + PKIDir + "/etcd.key",
			"--trusted-ca-file=" + PKIDir + "/etcd-ca.crt",
			"--client-cert-auth=true",
			"--peer-cert-file=" + PKIDir + "/etcd.crt",
			"--peer-key-file=" + PKIDir + "/etcd.key",
			"--peer-trusted-ca-file=" + PKIDir + "/etcd-ca.crt",
			"--peer-client-cert-auth=true",

			// Not waiting for the disk at each write makes everything faster.
			// The price: a power cut may cost the data, which is a learner's
			// cluster and made again in seconds. A crash of etcd costs nothing.
			"--unsafe-no-fsync=true",
			"--log-format=console",
			"--log-level=warn",
		}
	}}
}
