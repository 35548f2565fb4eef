package component

import "strings"

// leftOut are controllers for what simulated nodes don't have: disks that are
// attached and grown, devices, Pod certificates. Each would cost the start a
// ServiceAccount, a client and some informers.
var leftOut = []string{
	"-persistentvolume-attach-detach-controller",
	"-persistentvolume-expander-controller",
	"-ephemeral-volume-controller",
	"-volumeattributesclass-protection-controller",
	"-device-taint-eviction-controller",
	"-resourceclaim-controller",
	"-podcertificaterequest-cleaner-controller",
	"-kube-apiserver-serving-clustertrustbundle-publisher-controller",
	// For clusters that were made long ago.
	"-legacy-serviceaccount-token-cleaner-controller",
	"-storage-version-migrator-controller",
}

// ControllerManager runs the built-in controllers: Deployments, Jobs, garbage
// collection, namespaces, ServiceAccounts and some thirty more.
func ControllerManager() Component {
	return Component{Name: "kube-controller-manager", Args: func(Config) []string {
		return []string{
			"--kubeconfig=" + Kubeconfig(ControllerManagerClient),
			// Each controller acts as its own ServiceAccount, with no more
			// rights than it needs, as in a real cluster.
			"--use-service-account-credentials=true",
			"--service-account-private-key-file=" + PKIDir + "/sa.key",
			"--root-ca-file=" + PKIDir + "/ca.crt",
			"--cluster-signing-cert-file=" + PKIDir + "/ca.crt",
			"--cluster-signing-key-file=" + PKIDir + "/ca.key",
			"--controllers=*," + strings.Join(leftOut, ","),
			// It is alone: no election to win (it would wait for an old lease to
			// run out after a crash), and nobody to serve metrics to.
			"--leader-elect=false",
			"--secure-port=0",
			// The default of 20 requests a second protects big clusters.
			"--kube-api-qps=500",
			"--kube-api-burst=1000",
			"--profiling=false",
		}
	}}
}
