package testbed

import (
	"os"
	"strconv"
	"time"
)

// Scale stretches a time limit by $LAB_TIME_FACTOR (default 1), for machines that
// are slow or busy. Eventually and Stays do so by themselves.
func Scale(d time.Duration) time.Duration {
	factor, err := strconv.ParseFloat(os.Getenv("LAB_TIME_FACTOR"), 64)
	if err != nil || !(factor > 0) {
		return d
	}
	return time.Duration(float64(d) * factor)
}
