// Package e2e runs lab as a person does, beside a cluster that is somebody
// else's: a second control plane. It needs bin/controlplane (make cluster-up
// builds it) and fails where there is none.
package e2e
