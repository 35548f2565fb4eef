package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/controllings/controllings/runner/internal/course"
)

// lacks lists what a check needs and this cluster can't do.
func (c Cluster) lacks(spec *course.Check) []string {
	var lacks []string
	for _, n := range spec.Needs {
		if !slices.Contains(c.Can, n) {
			lacks = append(lacks, n)
		}
	}
	return lacks
}

// cant says to a person why a check is skipped.
func cant(provider string, lacks []string) string {
	var words []string
	for _, n := range lacks {
		words = append(words, map[string]string{
			course.NeedRestart: "stop and restart its components",
			course.NeedCompact: "forget its history when told to",
			course.NeedNodes:   "add nodes",
		}[n])
	}
	return fmt.Sprintf("the cluster %q can't %s, which this check needs; the one that comes with the course can: CLUSTER=embedded",
		provider, strings.Join(words, ", nor "))
}

// restoreTime is how long a cluster may take to be put back, before the factor.
const restoreTime = time.Minute

// putBack undoes what a check with needs did to the cluster and left so: it may
// have panicked, or been killed, before it could. A Ctrl-C doesn't stop this.
func putBack(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(o.Factor*float64(restoreTime)))
	defer cancel()
	return o.Cluster.Restore(ctx)
}
