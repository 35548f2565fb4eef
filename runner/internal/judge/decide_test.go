package judge

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/controllings/controllings/runner/internal/verdict"
	"github.com/controllings/controllings/todo/channel"
	"github.com/controllings/controllings/todo/guard"
)

// TestDecide is the table of what a check's process may do. Only one of its
// rows says passed.
func TestDecide(t *testing.T) {
	started := channel.Message{Event: channel.Started, Test: "TestX"}
	passed := channel.Message{Event: channel.Passed, Test: "TestX"}
	failed := channel.Message{Event: channel.Failed, Test: "TestX", Failure: &channel.Failure{Expected: "e", Seen: "s"}}
	notStarted := channel.Message{Event: channel.NotStarted, Step: "1.1"}
	skipped := channel.Message{Event: channel.Skipped, Test: "TestX"}
	broken := channel.Message{Event: channel.Error, Test: "TestX"}
	of := func(m ...channel.Message) []channel.Message { return m }
	other := func(m channel.Message, test string) channel.Message { m.Test = test; return m }

	for name, c := range map[string]struct {
		run  run
		want verdict.Status
		says string
	}{
		"passed":                              {run{Messages: of(started, passed)}, verdict.Passed, ""},
		"passed without a start":              {run{Messages: of(passed)}, verdict.Passed, ""},
		"nothing said, exit 0":                {run{}, verdict.Failed, "before the check began"},
		"started, exit 0":                     {run{Messages: of(started)}, verdict.Failed, "in the middle"},
		"nothing said, exit 1":                {run{Exit: 1}, verdict.Failed, "before the check began"},
		"started, exit 7":                     {run{Messages: of(started), Exit: 7}, verdict.Failed, "exit code 7"},
		"passed, then exit 1":                 {run{Messages: of(started, passed), Exit: 1}, verdict.Failed, "exit code 1"},
		"passed, then a signal":               {run{Messages: of(started, passed), Exit: -1, Signal: syscall.SIGKILL}, verdict.Failed, "signal"},
		"passed and failed":                   {run{Messages: of(started, passed, failed)}, verdict.Failed, ""},
		"failed":                              {run{Messages: of(started, failed), Exit: 1}, verdict.Failed, ""},
		"failed, but exit 0":                  {run{Messages: of(started, failed)}, verdict.Failed, ""},
		"another check passed":                {run{Messages: of(started, other(passed, "TestY"))}, verdict.Failed, ""},
		"a part of it passed":                 {run{Messages: of(started, other(passed, "TestX/part"))}, verdict.Failed, ""},
		"an unknown word":                     {run{Messages: of(started, channel.Message{Event: "fine", Test: "TestX"})}, verdict.Failed, ""},
		"passed in a flood":                   {run{Messages: of(started, passed), Flooded: true}, verdict.Failed, "more than"},
		"printed PASS":                        {run{Output: "--- PASS: TestX (0.00s)\nPASS\n"}, verdict.Failed, ""},
		"passed, then timed out":              {run{Messages: of(started, passed), TimedOut: true, Exit: -1, Limit: time.Second}, verdict.Failed, "after 1s"},
		"not started":                         {run{Messages: of(started, notStarted), Exit: 3}, verdict.NotStarted, ""},
		"not started wins over failed":        {run{Messages: of(started, failed, notStarted), Exit: 3}, verdict.NotStarted, ""},
		"not started wins over timed out":     {run{Messages: of(started, notStarted), TimedOut: true}, verdict.NotStarted, ""},
		"skipped":                             {run{Messages: of(started, skipped)}, verdict.Skipped, ""},
		"skipped, then exit 1":                {run{Messages: of(started, skipped), Exit: 1}, verdict.Failed, ""},
		"the testbed broke":                   {run{Messages: of(started, broken), Exit: 1}, verdict.Error, "testbed"},
		"a panic":                             {run{Messages: of(started), Exit: 2, Output: "panic: boom [recovered, repanicked]\n"}, verdict.Failed, "panic: boom"},
		"a deadlock":                          {run{Messages: of(started), Exit: 2, Output: "fatal error: all goroutines are asleep - deadlock!\n"}, verdict.Failed, "deadlock"},
		"a printed panic is no panic":         {run{Messages: of(started, passed), Output: "panic: not really\n"}, verdict.Passed, ""},
		"a plain t.Fatal":                     {run{Messages: of(started, channel.Message{Event: channel.Failed, Test: "TestX"}), Exit: 1, Output: "--- FAIL: TestX (0.00s)\n    x_test.go:1: no luck\nFAIL\n"}, verdict.Failed, "no luck"},
		"a failure without a word of its own": {run{Messages: of(started), Exit: 1, Output: "    x_test.go:1: no luck\n"}, verdict.Failed, "no luck"},
		"a data race":                         {run{Messages: of(started), Exit: 66, Output: "WARNING: DATA RACE\n"}, verdict.Failed, "data race"},
	} {
		t.Run(name, func(t *testing.T) {
			check := verdict.Check{Test: "TestX", Step: "1.1", Status: verdict.Error}
			decide(&check, &c.run, fixturePlaces(t))
			assert.Equal(t, c.want, check.Status, "%+v", check)
			assert.Contains(t, check.Message+check.Actual, c.says)
			if check.Status == verdict.Failed {
				assert.NotEmpty(t, check.Message+check.Actual, "a failure has to say why")
			}
		})
	}
}

func TestBounded(t *testing.T) {
	b := &guard.Output{Head: keepHead, Tail: keepTail}
	line := strings.Repeat("x", 1000) + "\n"
	for range 10_000 {
		_, _ = b.Write([]byte(line))
	}
	_, _ = b.Write([]byte("the end\n"))
	got := b.String()
	assert.Less(t, len(got), 300<<10)
	assert.Contains(t, got, "bytes left out")
	assert.True(t, strings.HasPrefix(got, line))
	assert.True(t, strings.HasSuffix(got, line+"the end\n"), got[len(got)-100:])

	b = &guard.Output{Head: keepHead, Tail: keepTail}
	_, _ = b.Write([]byte(strings.Repeat("a", 1<<20) + "tail"))
	assert.True(t, strings.HasSuffix(b.String(), "aaatail"))
	b = &guard.Output{Head: keepHead, Tail: keepTail}
	_, _ = b.Write([]byte("short"))
	assert.Equal(t, "short", b.String())
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		30 * time.Second: "30s", time.Minute: "1m", 90 * time.Second: "1m30s", 1500 * time.Millisecond: "1.5s", 10 * time.Minute: "10m",
	} {
		assert.Equal(t, want, short(d))
	}
}
