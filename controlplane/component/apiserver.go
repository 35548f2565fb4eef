package component

// APIServer is the cluster's front door.
func APIServer() Component {
	return Component{Name: "kube-apiserver", Args: func(c Config) []string {
		return []string{
			"--bind-address=127.0.0.1",
			"--advertise-address=127.0.0.1",
			"--secure-port=" + itoa(c.APIPort),
			// The supervisor holds the port while the API server is down: see
			// plane/hold_linux.go.
			"--permit-port-sharing=true",
			// There is one API server, on loopback, which no Endpoints object
			// may name: nobody would follow them anyway, as nothing routes
			// Services here.
			"--endpoint-reconciler-type=none",

			"--etcd-servers=" + EtcdSocket,

			"--tls-cert-file=" + PKIDir + "/apiserver.crt",
			"--tls-private-key-file=" + PKIDir + "/apiserver.key",
			"--client-ca-file=" + PKIDir + "/ca.crt",

			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file=" + PKIDir + "/sa.pub",
			"--service-account-signing-key-file=" + PKIDir + "/sa.key",

			"--authorization-mode=Node,RBAC",
			// NodeRestriction is kubeadm's. The other one refuses an owner
			// reference with blockOwnerDeletion from somebody who may not set
			// finalizers on the owner: controllers meet it on OpenShift and
			// other strict clusters, so they should meet it here.
			"--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
			"--allow-privileged=true",

			"--service-cluster-ip-range=" + ServiceCIDR,
			"--requestheader-client-ca-file=" + PKIDir + "/front-proxy-ca.crt",
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + PKIDir + "/front-proxy-client.crt",
			"--proxy-client-key-file=" + PKIDir + "/front-proxy-client.key",

			"--profiling=false",
		}
	}}
}
