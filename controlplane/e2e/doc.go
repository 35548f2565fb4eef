// Package e2e holds the tests of the built binary: that the cluster behaves as
// a real one where lessons depend on it, and that nothing that happens to the
// processes leaves a mess. It talks HTTP, as everything that talks to
// Kubernetes does, so that it is built in a second.
//
//	CONTROLPLANE_BIN=../bin/controlplane go test ./e2e
//
// Without CONTROLPLANE_BIN it builds the binary first. CONTROLPLANE_ROUNDS sets
// how many rounds of up and down are tried (default 3), CONTROLPLANE_BENCH=5
// measures five cold and five warm starts.
package e2e
