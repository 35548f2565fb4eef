package testbed

import (
	"crypto/rand"
	"io"
	"os"

	"github.com/controllings/controllings/todo/channel"
)

// maxStepReport bounds what a process may say of its steps, in bytes. todo.Step
// says one line and ends the process.
const maxStepReport = 64 << 10

// stepReport makes the channel on which todo.Step, in a process that the check
// starts, says that a step is not written: one like the check's own to the
// runner, but it ends here, and nothing else is believed on it. The process gets
// theirs as descriptor 3.
func stepReport() (r, theirs *os.File, env []string, err error) {
	r, theirs, err = os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	return r, theirs, []string{channel.EnvFD + "=3", channel.EnvWord + "=" + rand.Text()}, nil
}

// hearSteps listens until the process has ended. A step that is not written ends
// the check as it would from the check's own process: the verdict is "not
// started".
func (p *Process) hearSteps(r *os.File, env []string) {
	defer r.Close()
	word := env[1][len(channel.EnvWord+"="):]
	messages, _ := channel.Read(r, word, maxStepReport)
	_, _ = io.Copy(io.Discard, r) // a process that says too much isn't held up
	for _, m := range messages {
		if m.Event != channel.NotStarted || m.Failure == nil {
			continue
		}
		p.bed.report.notStarted(m)
		p.bed.t.Errorf("process %s: %s", p.name, m.Failure.Message)
		return
	}
}
