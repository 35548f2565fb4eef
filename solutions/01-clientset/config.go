package clientset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
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
	if path != "" {
		return fromFiles(&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, path)
	}

	var tried []string

	list := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	files := filepath.SplitList(list)
	switch {
	case anyExists(files):
		return fromFiles(&clientcmd.ClientConfigLoadingRules{Precedence: files}, list)
	case list != "":
		tried = append(tried, fmt.Sprintf("KUBECONFIG=%s (no such file)", list))
	default:
		tried = append(tried, "KUBECONFIG (not set)")
	}

	config, err := inCluster()
	switch {
	case err == nil:
		return config, nil
	case errors.Is(err, rest.ErrNotInCluster):
		tried = append(tried, "in-cluster configuration (not in a Pod)")
	default:
		return nil, fmt.Errorf("in-cluster configuration: %w", err)
	}

	home, err := os.UserHomeDir()
	if err != nil {
		tried = append(tried, fmt.Sprintf("~/.kube/config (%v)", err))
	} else {
		file := filepath.Join(home, clientcmd.RecommendedHomeDir, clientcmd.RecommendedFileName)
		if anyExists([]string{file}) {
			return fromFiles(&clientcmd.ClientConfigLoadingRules{Precedence: []string{file}}, file)
		}
		tried = append(tried, file+" (no such file)")
	}

	return nil, fmt.Errorf("no configuration for a cluster found; tried %s", strings.Join(tried, ", "))
}

// fromFiles merges the files of rules. It asks for no default: an empty or
// half-written kubeconfig is an error here, not a server at localhost:8080.
func fromFiles(rules *clientcmd.ClientConfigLoadingRules, source string) (*rest.Config, error) {
	merged, err := rules.Load()
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig %s: %w", source, err)
	}
	config, err := clientcmd.NewDefaultClientConfig(*merged, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("use kubeconfig %s: %w", source, err)
	}
	return config, nil
}

// anyExists tells whether one of the files is there. What can't even be looked at
// is: to read it will say why.
func anyExists(files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool {
		_, err := os.Stat(file)
		return !errors.Is(err, fs.ErrNotExist)
	})
}
