package judge

// What is kept of a check's output, in bytes.
const (
	keepHead = 64 << 10  // what a process says first
	keepTail = 192 << 10 // and last: a trace stands at the end
)
