// Incluster runs in a Pod: it finds its cluster as step 1.6 does, lists the
// ConfigMaps of its namespace, and looks up two names in the cluster's DNS.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	clientset "github.com/controllings/controllings/solutions/01-clientset"
)

func main() {
	if err := run(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	config, err := clientset.LoadConfig("", rest.InClusterConfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	namespace, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return err
	}
	found, err := client.CoreV1().ConfigMaps(string(namespace)).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	fmt.Print("ConfigMaps:")
	for _, c := range found.Items {
		fmt.Print(" ", c.Name)
	}
	fmt.Println()
	for _, name := range []string{"kubernetes.default.svc", "incluster"} {
		address, err := lookUp(ctx, name)
		if err != nil {
			return fmt.Errorf("look up %s: %w", name, err)
		}
		fmt.Printf("%s: %s\n", name, address)
	}
	return nil
}

// lookUp goes on until the name is known: the cluster's DNS learns of a new
// Service by a watch.
func lookUp(ctx context.Context, name string) (string, error) {
	for {
		found, err := net.DefaultResolver.LookupHost(ctx, name)
		if err == nil {
			return found[0], nil
		}
		select {
		case <-ctx.Done():
			return "", err
		case <-time.After(500 * time.Millisecond):
		}
	}
}
