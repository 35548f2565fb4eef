// Package supervise keeps processes alive, and sees to it that none outlives
// its keeper. It knows nothing of Kubernetes.
//
// Three small mechanisms carry it:
//
//   - Lock, a flock on a file. The kernel drops it when the last process that
//     inherited it is gone, however it died. A pid in a file proves nothing (the
//     number may be another process's by now); a held lock does.
//   - Lifeline, a pipe whose writing end only the supervisor holds. Every child
//     reads from it; when the supervisor dies, kill -9 included, the read ends
//     and the child ends itself. Linux has a signal for this, macOS has not; a
//     closing pipe works on both.
//   - Group, which starts processes, restarts one that died a few times with
//     growing pauses, and then gives up on it and says why.
package supervise
