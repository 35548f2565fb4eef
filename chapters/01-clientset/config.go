package clientset

import (
	"k8s.io/client-go/rest"

	"github.com/controllings/controllings/todo"
)

// LoadConfig finds out which API server to talk to, and as whom. The first of
// these that is there wins:
//
//  1. the kubeconfig file at path, when path isn't empty;
//  2. the files that the environment variable KUBECONFIG lists, merged; files
//     that aren't there are passed over, and so is the list if none of them is;
//  3. the ServiceAccount of the Pod this runs in, which inCluster returns
//     (rest.InClusterConfig in a program; rest.ErrNotInCluster outside a Pod);
//  4. the file .kube/config in the home directory; where HOME isn't set, there
//     is no such file.
//
// A source that is there and can't be used, such as a kubeconfig that is broken,
// empty or without a current context, ends the search with its error (wrapped):
// to go on would mean another cluster than the one that was asked for. When there
// is none, the error says where LoadConfig looked.
//
// Relative paths in a kubeconfig begin at the folder that it is in. LoadConfig
// reads the environment and changes nothing in it.
func LoadConfig(path string, inCluster func() (*rest.Config, error)) (*rest.Config, error) {
	// TODO(1.6): look in the four places, in this order.
	panic(todo.Step("1.6"))
}
