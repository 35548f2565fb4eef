// Package component says how each part of the control plane is started: one
// file each, with the reason beside every flag that is not what kubeadm would
// give it.
//
// The flags are the real ones, and the programs behind them are the real ones
// (package upstream), so what a learner reads here is true of a cluster in
// production. Paths are relative: each component runs with the control plane's
// folder as its working directory, so a path with spaces, commas or Chinese
// characters never meets a flag parser.
package component
