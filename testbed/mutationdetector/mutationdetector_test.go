package mutationdetector_test

import (
	"reflect"
	"testing"

	"k8s.io/client-go/tools/cache"

	_ "github.com/controllings/controllings/testbed/mutationdetector"
)

func TestComesBeforeClientGo(t *testing.T) {
	// Where it came too late, client-go makes a dummy.
	if kind := reflect.TypeOf(cache.NewCacheMutationDetector("test")).String(); kind != "*cache.defaultCacheMutationDetector" {
		t.Errorf("client-go has made a %s: its detector is off", kind)
	}
}
