package upstream

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodeheartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

func kwok() int {
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, _ := log.InitFlags(signals.SetupSignalContext(), flags)
	ctx, err := config.InitFlags(ctx, flags)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kwok: read its configuration:", err)
		return 1
	}
	if err := dropLeases(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kwok: drop the leases of the one before:", err)
		return 1
	}
	c := cmd.NewCommand(ctx)
	// A version makes cobra add a --version flag, which Kubernetes' packages
	// have added already in this binary.
	c.Version = ""
	c.PersistentFlags().AddFlagSet(flags)
	if err := c.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "kwok:", err)
		return 1
	}
	return 0
}

// Stages are kwok's own rules for the life of simulated nodes and Pods: a node
// becomes Ready and stays so, a Pod becomes Ready at once, a Job's Pod
// completes, a deleted one goes.
func Stages() []byte {
	return []byte(strings.Join([]string{
		nodefast.DefaultNodeInit,
		nodeheartbeat.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady,
		podfast.DefaultPodComplete,
		podfast.DefaultPodDelete,
	}, "\n---\n"))
}
