// Package upstream holds the entry points of the real programs, each as its own
// repository's main package has it. It is the only package that imports them:
// linking Kubernetes takes half a minute, and no test of the others should.
package upstream

// Main runs a program with the arguments in os.Args, and returns its exit code.
type Main func() int

// Mains are the programs by name.
func Mains() map[string]Main {
	return map[string]Main{
		"etcd":                    etcd,
		"kube-apiserver":          apiserver,
		"kube-controller-manager": controllerManager,
		"kube-scheduler":          scheduler,
		"kwok":                    kwok,
		"kubectl":                 kubectl,
	}
}
