package clientset_test

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
)

// learnersGoroutines are those that are in the chapter's code, or were started
// there: the number of each, and what it is doing in which function.
func learnersGoroutines() map[string]string {
	function := runtime.FuncForPC(reflect.ValueOf(clientset.ReadWithin).Pointer()).Name()
	inPackage := function[:strings.LastIndexByte(function, '.')+1] // "…/01-clientset."
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	found := map[string]string{}
	for goroutine := range strings.SplitSeq(string(stacks), "\n\n") {
		_, place, ok := strings.Cut(goroutine, inPackage)
		if !ok {
			continue
		}
		number, rest, _ := strings.Cut(goroutine, " [") // goroutine 7 [chan send]:
		doing, _, _ := strings.Cut(rest, "]")
		place, _, _ = strings.Cut(place, "\n")
		if arguments := strings.LastIndexByte(place, '('); arguments > 0 {
			place = place[:arguments]
		}
		found[number] = fmt.Sprintf("a goroutine in %s: %s", place, doing)
	}
	return found
}

// goroutinesSince tells of those that were not there before.
func goroutinesSince(before map[string]string) []string {
	now := learnersGoroutines()
	maps.DeleteFunc(now, func(number, _ string) bool { _, was := before[number]; return was })
	return slices.Sorted(maps.Values(now))
}
