package testbed

import "github.com/controllings/controllings/todo/channel"

// maxStepReport bounds what a process may say of its steps, in bytes. todo.Step
// says one line and ends the process.
const maxStepReport = 64 << 10

// hearSteps listens, until the process has ended, on the channel by which
// todo.Step says there that a step is not written. It is one like the check's own
// to the runner, but it ends here, and nothing else is believed on it. Such a step
// ends the check as it would in the check's own process: the verdict is "not
// started".
func (p *Process) hearSteps(wire *channel.Wire) {
	defer wire.Close()
	messages, _ := wire.Read(maxStepReport)
	wire.Drain() // a process that says too much isn't held up
	for _, m := range messages {
		if m.Event != channel.NotStarted || m.Failure == nil {
			continue
		}
		p.bed.report.notStarted(m)
		p.bed.t.Errorf("process %s: %s", p.name, m.Failure.Message)
		return
	}
}
