package sharing_test

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	sharing "github.com/controllings/controllings/chapters/03-workqueue"
)

// controllersGoroutines are those that are in the chapter's code, in an informer or
// in a queue: what each is doing, in which function.
func controllersGoroutines() []string {
	function := runtime.FuncForPC(reflect.ValueOf(sharing.Run).Pointer()).Name()
	places := []string{
		function[:strings.LastIndexByte(function, '.')+1], // "…/03-workqueue."
		"k8s.io/client-go/tools/cache.",
		"k8s.io/client-go/util/workqueue.",
	}
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	found := map[string]bool{}
	for goroutine := range strings.SplitSeq(string(stacks), "\n\n") {
		for _, prefix := range places {
			_, place, ok := strings.Cut(goroutine, "\n"+prefix)
			if !ok {
				continue
			}
			_, rest, _ := strings.Cut(goroutine, " [") // goroutine 7 [chan send]:
			doing, _, _ := strings.Cut(rest, "]")
			doing, _, _ = strings.Cut(doing, ",") // without its minutes
			place, _, _ = strings.Cut(place, "\n")
			if arguments := strings.LastIndexByte(place, '('); arguments > 0 {
				place = place[:arguments]
			}
			found[fmt.Sprintf("a goroutine in %s%s: %s", prefix, place, doing)] = true
			break
		}
	}
	return slices.Sorted(maps.Keys(found))
}
