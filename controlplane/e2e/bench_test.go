package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The budget on two idle cores.
const (
	coldBudget   = 4 * time.Second
	warmBudget   = 3 * time.Second
	memoryBudget = 700 // MB
)

// TestBudget measures starts and memory. A miss is an error, not a new budget.
func TestBudget(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("CONTROLPLANE_BENCH"))
	if err != nil || n < 1 {
		t.Skip("set CONTROLPLANE_BENCH to the number of runs")
	}
	var cold, warm []time.Duration
	var memory []int
	for range n {
		c := fresh(t)
		start := func() time.Duration {
			began := time.Now()
			c.up(t)
			took := time.Since(began)
			// What up promises, asked for from outside.
			if code, _ := c.admin(t).do(t.Context(), "GET", "/api/v1/namespaces/default/serviceaccounts/default", nil); code != 200 {
				t.Fatalf("the default ServiceAccount: %d", code)
			}
			return took
		}
		cold = append(cold, start())
		<-time.After(12 * time.Second) // the start's own memory is given back after 8 s
		memory = append(memory, resident(t, c))
		c.down(t)
		warm = append(warm, start())
		c.down(t)
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("load %.15s", load)
	report(t, "cold start", cold, coldBudget)
	report(t, "warm start", warm, warmBudget)
	report(t, "resident MB", memory, memoryBudget)
}

func report[T ~int | ~int64](t *testing.T, what string, all []T, budget T) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(all))
	median := sorted[len(sorted)/2]
	t.Logf("%-12s median %v, budget %v, all %v", what, median, budget, all)
	if median > budget {
		t.Errorf("%s: %v is over the budget of %v", what, median, budget)
	}
}

// resident sums the resident memory of all the cluster's processes, in MB. The
// program's pages, which they share, count in each.
func resident(t *testing.T, c cluster) int {
	t.Helper()
	total := 0
	for name, pid := range c.processes(t) {
		out, err := exec.Command("ps", "-o", "rss=", "-p", fmt.Sprint(pid)).Output()
		if err != nil {
			t.Fatalf("memory of %s: %v", name, err)
		}
		kb, err := strconv.Atoi(strings.TrimSpace(string(out)))
		if err != nil {
			t.Fatal(err)
		}
		share := ""
		if data, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "smaps_rollup")); err == nil {
			if _, after, ok := strings.Cut(string(data), "\nPss:"); ok {
				share = ", its share of shared pages counted only: " + strings.Join(strings.Fields(after)[:2], " ")
			}
		}
		t.Logf("%-24s %d kB%s", name, kb, share)
		total += kb
	}
	return total / 1024
}
