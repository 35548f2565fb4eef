package guard

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// lifelines are open as long as this process is there.
var (
	lifelinesMu sync.Mutex
	lifelines   []*os.File
)

// RemoveAtEnd lets a folder, with all that is in it, be removed when this process
// has ended, in whatever way. It leaves no goroutine here.
func RemoveAtEnd(dir string) error {
	cmd, err := newGuard()
	if err != nil {
		return err
	}
	lifeline, events, err := startWithPipes(cmd)
	if err != nil {
		return fmt.Errorf("start the guard: %w", err)
	}
	events.Close()
	lifelinesMu.Lock()
	lifelines = append(lifelines, lifeline) // or the garbage collector would close it
	lifelinesMu.Unlock()
	if err := json.NewEncoder(lifeline).Encode(spec{Remove: dir}); err != nil {
		return fmt.Errorf("tell the guard what to remove: %w", err)
	}
	return cmd.Process.Release()
}
