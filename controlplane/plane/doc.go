// Package plane is one control plane in one folder: what lies where, how it
// comes up and goes down, and how to tell which of the two it is.
//
// Who does what:
//
//	controlplane up ──starts──▶ supervisor ──starts──▶ etcd, kube-apiserver, …
//	      ▲                        │  holds DIR/lock, keeps DIR/state
//	      └── progress (a pipe) ───┘
//
// Up takes the lock, starts the supervisor as a process of its own session and
// passes the lock on; from then on the lock is held by the supervisor and its
// children, and free again when the last of them is gone. So "is it up?" never
// rests on a pid that may be somebody else's by now.
//
// Until the cluster is ready the supervisor also listens to the pipe from up:
// if up is interrupted, or killed, the supervisor takes down what it had
// started.
package plane
