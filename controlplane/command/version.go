package command

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	kubeversion "k8s.io/component-base/version"
)

func version() *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "Print what this binary is made of", Args: cobra.NoArgs}
	asJSON := c.Flags().Bool("json", false, "print one JSON object")
	c.RunE = func(c *cobra.Command, _ []string) error {
		v := struct {
			Kubernetes string `json:"kubernetes"`
			Etcd       string `json:"etcd"`
			Kwok       string `json:"kwok"`
			Go         string `json:"go"`
			Platform   string `json:"platform"`
		}{
			Kubernetes: kubernetesVersion(),
			Etcd:       moduleVersion("go.etcd.io/etcd/server/v3"),
			Kwok:       moduleVersion("sigs.k8s.io/kwok"),
			Go:         runtime.Version(),
			Platform:   runtime.GOOS + "/" + runtime.GOARCH,
		}
		if *asJSON {
			return json.NewEncoder(c.OutOrStdout()).Encode(v)
		}
		_, err := fmt.Fprintf(c.OutOrStdout(), "Kubernetes %s, etcd %s, kwok %s (%s, %s)\n", v.Kubernetes, v.Etcd, v.Kwok, v.Go, v.Platform)
		return err
	}
	return c
}

// kubernetesVersion is what the linker was told: see -ldflags in the runner.
func kubernetesVersion() string { return kubeversion.Get().GitVersion }
