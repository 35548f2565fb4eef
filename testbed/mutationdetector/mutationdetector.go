// Package mutationdetector switches client-go's cache mutation detector on, for the
// checks that import it (with _): each informer then keeps a second copy of what its
// handlers were told of, compares the two every second, and panics when somebody has
// changed an object of the cache (tools/cache/mutation_detector.go).
//
// client-go looks at the environment while it is initialised, so this package has to
// come before. Of the packages that are ready to be initialised Go takes the one
// whose path comes first, and this one's comes before k8s.io/client-go.
package mutationdetector

import (
	"bytes"
	"io"
	"os"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

func init() {
	const env = "KUBE_CACHE_MUTATION_DETECTOR"
	if _, set := os.LookupEnv(env); set {
		return
	}
	_ = os.Setenv(env, "true")
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(quiet{os.Stderr}))))
}

// quiet leaves out what each new detector says of itself: a learner who looks at the
// output of a check has nothing to learn from it.
type quiet struct{ io.Writer }

func (q quiet) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Mutation detector is enabled")) {
		return len(line), nil
	}
	return q.Writer.Write(line)
}
