package component

import "net"

// Where things are, relative to the control plane's folder.
const (
	EtcdDir     = "etcd"   // etcd's data
	PKIDir      = "pki"    // keys and certificates
	TmpDir      = "tmp"    // HOME and TMPDIR of the components; gone when it is down
	ConfigDir   = "config" // kubeconfigs of the components, kwok's stages
	StagesFile  = "config/kwok-stages.yaml"
	ServiceCIDR = "10.96.0.0/16"
)

// The names under which certs makes the clients' certificates, and the
// kubeconfigs made of them.
const (
	AdminClient             = "admin"
	ControllerManagerClient = "controller-manager"
	SchedulerClient         = "scheduler"
	KwokClient              = "kwok"
)

// ServiceIP is the first address of ServiceCIDR: the "kubernetes" Service's.
var ServiceIP = net.IPv4(10, 96, 0, 1)

// Kubeconfig is the path of a client's kubeconfig.
func Kubeconfig(client string) string { return ConfigDir + "/" + client + ".kubeconfig" }
