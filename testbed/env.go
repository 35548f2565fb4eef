package testbed

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// setAside takes away whatever could lead a client to another cluster than the
// bed's, until the test ends: the home folder with its .kube, $KUBECONFIG, and
// the variables of a Pod. What controls the cluster is the check's alone too.
func setAside(t testing.TB) (err error) {
	defer func() {
		// Setenv panics in a parallel test, in words of its own.
		if p := recover(); p != nil {
			err = fmt.Errorf("testbed.New changes the environment, so a check can't be parallel: %v", p)
		}
	}()
	t.Setenv("HOME", t.TempDir())
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if name == "KUBECONFIG" || name == "LAB_KUBECONFIG" || name == "LAB_CONTROL" || strings.HasPrefix(name, "KUBERNETES_") {
			t.Setenv(name, "") // puts the old value back at the end
			if err := os.Unsetenv(name); err != nil {
				return fmt.Errorf("unset %s: %w", name, err)
			}
		}
	}
	return nil
}
