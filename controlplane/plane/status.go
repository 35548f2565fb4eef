package plane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"syscall"

	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/supervise"
)

// Health is whether a control plane is there.
type Health string

// The states of a control plane.
const (
	Up       Health = "up"
	Down     Health = "down"
	Degraded Health = "degraded" // starting, stopping, or a part of it is not well
)

// Status is what there is to say of a control plane.
type Status struct {
	State      Health             `json:"state"`
	Kubernetes string             `json:"kubernetes,omitempty"`
	Server     string             `json:"server,omitempty"`
	Reason     string             `json:"reason,omitempty"` // of degraded
	Components []supervise.Status `json:"components"`

	broken  bool // it will not mend itself
	stopped bool // a part of it is, because somebody asked for that
	phase   phase
}

// Status finds out how the control plane is. It never fails: what can't be
// read is part of the answer.
func (d Dir) Status(ctx context.Context) Status {
	locked, err := supervise.Locked(d.lockFile())
	switch {
	case err != nil:
		return Status{State: Degraded, Reason: err.Error(), Components: []supervise.Status{}}
	case !locked:
		return Status{State: Down, Components: []supervise.Status{}}
	}
	r, err := d.readState()
	if err != nil {
		return Status{State: Degraded, Reason: "it is starting", Components: []supervise.Status{}}
	}
	st := Status{State: Degraded, Kubernetes: r.Kubernetes, Server: r.Server, Components: r.Components, phase: r.Phase}
	if st.Components == nil {
		st.Components = []supervise.Status{} // not null in JSON
	}
	if syscall.Kill(r.Supervisor, 0) != nil {
		st.Reason = "its supervisor is gone, the components are ending"
		return st
	}
	if r.Phase != phaseReady {
		st.Reason = "it is " + string(r.Phase)
		return st
	}
	for _, c := range r.Components {
		switch c.State {
		case supervise.Failed:
			st.Reason, st.broken = c.Name+" has failed: "+c.Exit, true
			return st
		case supervise.Restarting:
			st.Reason = c.Name + " is being restarted"
		case supervise.Stopped:
			st.Reason, st.stopped = c.Name+" is stopped, as asked", true
		}
	}
	if st.Reason != "" {
		return st
	}
	if err := newAPI(r.Server, d.trust()).ready(ctx); err != nil {
		st.Reason = "the API server is not ready: " + err.Error()
		return st
	}
	st.State = Up
	return st
}

// trust returns how to connect to the API server as nobody: /readyz answers
// everyone.
func (d Dir) trust() *tls.Config {
	pool := x509.NewCertPool()
	if ca, err := os.ReadFile(d.path(component.PKIDir, "ca.crt")); err == nil {
		pool.AppendCertsFromPEM(ca)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
}
