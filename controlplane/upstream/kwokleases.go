package upstream

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/controllings/controllings/controlplane/component"
)

// dropLeases removes the leases of the simulated nodes. kwok holds them under a
// name that is new at each start, and takes none from another holder before it
// is over (--node-lease-duration-seconds). A kwok that was started again would
// leave every Pod Pending until then, waiting for the one that is dead: there is
// never a second one alive. It makes the leases anew at once.
func dropLeases(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", component.Kubeconfig(component.KwokClient))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		last = client.CoordinationV1().Leases(corev1.NamespaceNodeLease).
			DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w; last answer: %w", err, last)
	}
	return nil
}
