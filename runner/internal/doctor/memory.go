package doctor

import "context"

// What the machine has to have, in bytes, less what its kernel keeps: the
// control plane takes 700 MB, its build about 4 GB at its peak on few cores.
const (
	memoryToRun   = 3 * giga / 2
	memoryToBuild = 7 * giga / 2
)

// memory compares what this machine, or container, has with what is needed.
func memory(ctx context.Context, o Options) Finding {
	have, err := memorySize(ctx)
	if err != nil {
		return warn("see that there are 4 GB", "not known: %v", err)
	}
	return enoughMemory(have, built(o))
}

func enoughMemory(have uint64, built bool) Finding {
	switch {
	case have < memoryToRun:
		return failed("use a machine with 4 GB, or give this virtual machine or container more", "%s: the cluster and a check together need about 2 GB", size(have))
	case have < memoryToBuild && !built:
		return warn("build with less at once: export GOFLAGS=-p=1 for the first make cluster-up, or give this virtual machine or container 4 GB", "%s: building the control plane takes about 4 GB", size(have))
	}
	return ok("%s", size(have))
}
