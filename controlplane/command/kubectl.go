package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/controllings/controllings/controlplane/files"
)

// kubectl is only here to be listed: main hands "controlplane kubectl" over to
// the real one before this command line is read.
func kubectl() *cobra.Command {
	return &cobra.Command{
		Use: "kubectl [ARGS]", Short: "The real kubectl; needs KUBECONFIG or --kubeconfig",
		DisableFlagParsing: true, Run: func(*cobra.Command, []string) {},
	}
}

// PrepareKubectl keeps kubectl away from ~/.kube: it refuses to guess a
// cluster, and puts the cache beside the kubeconfig that was named.
func PrepareKubectl(args []string) {
	kubeconfig := os.Getenv("KUBECONFIG")
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--kubeconfig="); ok {
			kubeconfig = v
		} else if a == "--kubeconfig" && i+1 < len(args) {
			kubeconfig = args[i+1]
		} else if a == "--" {
			break
		}
	}
	if kubeconfig == "" {
		fmt.Fprintln(os.Stderr, "error: run kubectl: no cluster is named")
		fmt.Fprintln(os.Stderr, "hint:  export KUBECONFIG=DIR/kubeconfig, or use: lab cluster kubectl …")
		os.Exit(1)
	}
	cache := filepath.Join(filepath.Dir(filepath.SplitList(kubeconfig)[0]), "kubectl-cache")
	setDefault("KUBECACHEDIR", cache)
	if os.Getenv("KUBECACHEDIR") == cache {
		_ = os.Mkdir(cache, files.DirMode) // kubectl would let the group in
	}
	setDefault("KUBECTL_KUBERC", "false")
}

func setDefault(name, value string) {
	if os.Getenv(name) == "" {
		_ = os.Setenv(name, value)
	}
}
