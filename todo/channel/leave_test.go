package channel

import (
	"testing"
	"time"
)

func TestLeave(t *testing.T) {
	ran := make(chan string, 3)
	cancelA := BeforeExit(func() { ran <- "a" })
	cancelB := BeforeExit(func() { ran <- "b" })
	defer cancelB()
	cancelA()
	Leave()
	if len(ran) != 1 || <-ran != "b" {
		t.Error("want what was not cancelled, once")
	}

	hangs := make(chan struct{})
	defer close(hangs)
	defer BeforeExit(func() { <-hangs })()
	begin := time.Now()
	Leave()
	if took := time.Since(begin); took < leaveTime || took > 20*leaveTime {
		t.Errorf("waited %v for one that hangs", took)
	}
}
