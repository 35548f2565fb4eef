package cluster

import (
	"context"
	"io"
	"path/filepath"
	"strconv"
)

// Can implements Controller.
func (e *embedded) Can() []string { return []string{CanRestart, CanCompact, CanNodes} }

// ControlFile implements Controller.
func (e *embedded) ControlFile() string { return filepath.Join(e.dir(), "control") }

// Component implements Controller.
func (e *embedded) Component(ctx context.Context, w io.Writer, verb, name string) error {
	return e.control(ctx, w, []string{verb}, name)
}

// Compact implements Controller.
func (e *embedded) Compact(ctx context.Context, w io.Writer) error {
	return e.control(ctx, w, []string{"compact"})
}

// AddNodes implements Controller.
func (e *embedded) AddNodes(ctx context.Context, w io.Writer, n int) error {
	return e.control(ctx, w, []string{"nodes", "add"}, strconv.Itoa(n))
}

// RemoveNodes implements Controller.
func (e *embedded) RemoveNodes(ctx context.Context, w io.Writer) error {
	return e.control(ctx, w, []string{"nodes", "remove"})
}

// Restore implements Controller.
func (e *embedded) Restore(ctx context.Context, w io.Writer) error {
	return e.control(ctx, w, []string{"restore"})
}

// control runs a command of the control plane. Its arguments come after "--",
// since a person's may begin with a dash.
func (e *embedded) control(ctx context.Context, w io.Writer, command []string, args ...string) error {
	if err := e.built(); err != nil {
		return err
	}
	command = append(command, "--dir", e.dir(), "--")
	return e.run(ctx, append(command, args...), nil, w, e.o.Status)
}
