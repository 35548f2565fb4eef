package command

import (
	"fmt"

	"github.com/spf13/cobra"
)

func compact() *cobra.Command {
	c := &cobra.Command{
		Use: "compact", Short: "Make the API server forget the past: old revisions and continue tokens are 410 Expired",
		Long: `Compact etcd to its current revision, and wait until the API server has
forgotten too: up to 15 seconds, as often as it looks. Then a list at an older
resourceVersion and a list continued from before get 410 Expired. A watch from
an old resourceVersion is served from the API server's memory, which a restart
clears: controlplane restart kube-apiserver.`,
		Args: cobra.NoArgs,
	}
	control := controlOf(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		client, err := control()
		if err != nil {
			return err
		}
		revision, err := client.Compact(c.Context())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "forgot all before revision %d\n", revision)
		return err
	}
	return c
}
