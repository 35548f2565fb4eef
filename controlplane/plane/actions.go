package plane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/endpoint"
	"github.com/controllings/controllings/controlplane/supervise"
)

// actions is what the supervisor lets others do to the control plane. It is
// offered once everything has come up.
type actions struct {
	s *supervisor

	// For how long the API server did not serve, since Restore last looked, and
	// from when on it doesn't now, or zero. Only one action is done at a time.
	away  time.Duration
	since time.Time
}

// awayLong is an absence of the API server after which its clients are slow to
// come back: they wait longer and longer between their tries, up to half a
// minute.
const awayLong = 3 * time.Second

const (
	etcdName      = "etcd"
	apiServerName = "kube-apiserver"
)

// Components implements endpoint.Actions.
func (c *actions) Components() []supervise.Status { return c.s.group.Status() }

// Stop implements endpoint.Actions.
func (c *actions) Stop(_ context.Context, name string) error {
	if err := known(name); err != nil {
		return err
	}
	c.end(name)
	return nil
}

// Start implements endpoint.Actions.
func (c *actions) Start(ctx context.Context, name string) error {
	if err := c.startable(name); err != nil {
		return err
	}
	st, _ := c.s.group.Of(name)
	if st.State == supervise.Restarting { // now rather than after its pause
		c.end(name)
	}
	if st.State != supervise.Running {
		if err := c.resume(name); err != nil {
			return err
		}
	}
	return c.serves(ctx, name)
}

// Restart implements endpoint.Actions.
func (c *actions) Restart(ctx context.Context, name string) error {
	if err := c.startable(name); err != nil {
		return err
	}
	// Whoever asked may go away, but what was stopped is started all the same.
	c.end(name)
	if err := c.resume(name); err != nil {
		return err
	}
	return c.serves(ctx, name)
}

// Kill implements endpoint.Actions.
func (c *actions) Kill(_ context.Context, name string) error {
	if err := known(name); err != nil {
		return err
	}
	var not *supervise.NotInStateError
	err := c.s.group.Kill(name)
	if errors.As(err, &not) {
		return conflict("start it first: lab cluster start "+name, "kill what does not run: %w", err)
	}
	return err
}

// Restore implements endpoint.Actions.
func (c *actions) Restore(ctx context.Context) ([]string, error) {
	var did []string
	for _, st := range c.s.group.Status() {
		if st.State != supervise.Stopped && st.State != supervise.Failed {
			continue
		}
		if err := c.resume(st.Name); err != nil {
			return did, err
		}
		did = append(did, "started "+st.Name)
	}
	if err := c.serves(ctx, apiServerName); err != nil {
		return did, err
	}
	if c.away > awayLong {
		// What comes next counts on them.
		clients := component.Names()[2:]
		c.s.group.Stop(grace, clients...)
		for _, name := range clients {
			if err := c.resume(name); err != nil {
				return did, err
			}
		}
		did = append(did, "restarted "+strings.Join(clients, ", ")+", which were waiting to try again")
	}
	c.away = 0
	for _, st := range c.s.group.Status() {
		if err := c.serves(ctx, st.Name); err != nil {
			return did, err
		}
	}
	removed, err := c.RemoveNodes(ctx, endpoint.ByCheck)
	if len(removed) > 0 {
		did = append(did, "removed "+strings.Join(removed, ", "))
	}
	return did, err
}

func (c *actions) end(name string) {
	patience := grace
	if name == etcdName {
		patience = etcdGrace
	}
	if c.since.IsZero() && (name == etcdName || name == apiServerName) {
		c.since = time.Now()
	}
	c.s.group.Stop(patience, name)
}

func (c *actions) resume(name string) error {
	err := c.s.group.Resume(name)
	if errors.Is(err, supervise.ErrClosed) {
		return conflict("start the cluster again: lab cluster up", "start %s: %w", name, err)
	}
	return err
}

// startable says why a component can't be started.
func (c *actions) startable(name string) error {
	if err := known(name); err != nil {
		return err
	}
	if st, ok := c.s.group.Of(etcdName); ok && name == apiServerName && down(st.State) {
		// It would wait for etcd for a while, and then die.
		return conflict("start it first: lab cluster start "+etcdName, "start %s: etcd is %s", name, st.State)
	}
	return nil
}

func down(s supervise.State) bool { return s == supervise.Stopped || s == supervise.Failed }

// serves returns when a component does its work again, as far as that can be
// seen: it runs, and the API server, if it and etcd are up at all, says that it
// is ready.
func (c *actions) serves(ctx context.Context, name string) error {
	return c.until(ctx, name, func(ctx context.Context) error {
		up := true
		for _, st := range c.s.group.Status() {
			switch {
			case st.Name == name && st.State == supervise.Failed:
				return &lostError{died(c.s.dir, st)}
			case st.Name == name && st.State != supervise.Running:
				return fmt.Errorf("%s is %s", name, st.State)
			case st.Name == etcdName || st.Name == apiServerName:
				up = up && !down(st.State)
			}
		}
		if !up || (name != etcdName && name != apiServerName) {
			return nil
		}
		if err := c.s.api.ready(ctx); err != nil {
			return err
		}
		if !c.since.IsZero() {
			c.away, c.since = c.away+time.Since(c.since), time.Time{}
		}
		return nil
	})
}

// serving says why the API server can't be asked.
func (c *actions) serving(ctx context.Context) error {
	for _, name := range []string{etcdName, apiServerName} {
		if st, ok := c.s.group.Of(name); ok && down(st.State) {
			return conflict("start it first: lab cluster start "+name, "ask the API server: %s is %s", name, st.State)
		}
	}
	return c.until(ctx, "the API server", c.s.api.ready)
}

// lostError ends the waiting for what will not come.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// until polls until ok returns nil, or ctx ends.
func (c *actions) until(ctx context.Context, what string, ok func(context.Context) error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	last := "none"
	for {
		err := ok(ctx)
		var lost *lostError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &lost):
			return hinted(lost.err)
		case ctx.Err() == nil:
			last = err.Error() // the one that ctx cut short tells nothing
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; last answer: %s", what, context.Cause(ctx), last)
		case <-tick.C:
		}
	}
}

// known says which components there are, if name is none.
func known(name string) error {
	if slices.Contains(component.Names(), name) {
		return nil
	}
	return &endpoint.Error{
		Code: http.StatusNotFound, Err: fmt.Errorf("no component %q", name),
		Hint: "there are: " + strings.Join(component.Names(), ", "),
	}
}

// conflict says that something can't be done as things are.
func conflict(hint, format string, args ...any) error {
	return &endpoint.Error{Code: http.StatusConflict, Err: fmt.Errorf(format, args...), Hint: hint}
}

// hinted carries an Error's hint over the wire.
func hinted(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return &endpoint.Error{Code: http.StatusInternalServerError, Err: known.Err, Hint: known.Hint}
	}
	return err
}
