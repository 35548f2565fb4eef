package course

import (
	"fmt"
	"slices"
	"strings"
)

// What a check may need of the cluster beyond what every kind of cluster has.
const (
	NeedRestart = "restart" // its components can be stopped, started and killed
	NeedCompact = "compact" // its history can be forgotten
	NeedNodes   = "nodes"   // nodes can be added
)

// Needs are all of them.
var Needs = []string{NeedRestart, NeedCompact, NeedNodes}

// needs reads the needs of a check.
func needs(e entry) ([]string, error) {
	var found []string
	for _, n := range e.Needs {
		switch {
		case !slices.Contains(Needs, n.s):
			h := "there are: " + strings.Join(Needs, ", ")
			if near := nearest(n.s, Needs); near != "" {
				h = fmt.Sprintf("did you mean %q?", near)
			}
			return nil, &lineError{n.line, fmt.Sprintf("check %s needs %q, which no cluster has", e.Test.s, n.s), h}
		case slices.Contains(found, n.s):
			return nil, &lineError{n.line, fmt.Sprintf("check %s needs %q twice", e.Test.s, n.s), "remove one"}
		}
		found = append(found, n.s)
	}
	if len(found) > 0 && !e.Serial {
		return nil, &lineError{e.line, fmt.Sprintf("check %s needs %s, but is not serial", e.Test.s, strings.Join(found, ", ")),
			"add serial: true, since all others on the cluster feel it"}
	}
	return found, nil
}
