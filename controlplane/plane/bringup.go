package plane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/controllings/controllings/controlplane/supervise"
)

// pollEvery is how often the supervisor asks whether something is so. The
// answers are cheap, and the learner waits for them.
const pollEvery = 40 * time.Millisecond

// bringUp starts the components in an order that keeps two cores busy and
// nothing waiting. The API server has the longest way to go, and etcd is what it
// needs first: these two have the machine to themselves until the API server
// listens. While it then fills its storage, its clients are loaded, but they are
// let go only when it is ready: before, they would try in vain, and try again a
// whole second later. The controller manager goes first, because every Pod waits
// for what it makes.
func (s *supervisor) bringUp(ctx context.Context, a *api) error {
	open, err := supervise.NewGate()
	if err != nil {
		return err
	}
	open.Open()
	for _, c := range []string{"etcd", "kube-apiserver"} {
		if err := s.launch(c, open); err != nil {
			return err
		}
	}
	if err := s.wait(ctx, "the API server", a.listens); err != nil {
		return err
	}
	if err := s.launch("kube-controller-manager", s.apiReady); err != nil {
		return err
	}
	for _, c := range []string{"kube-scheduler", "kwok"} {
		if err := s.launch(c, s.usable); err != nil {
			return err
		}
	}
	if err := s.wait(ctx, "the API server", a.ready); err != nil {
		return err
	}
	s.apiReady.Open()
	s.say(fmt.Sprintf("API server is ready after %s", s.took()))
	if err := a.makeNodes(ctx, s.o.Nodes); err != nil {
		return err
	}
	if err := s.wait(ctx, "the controller manager", a.usable); err != nil {
		return err
	}
	s.usable.Open()
	s.group.Forgive()
	// One that died in the last moment, before it would have been forgiven.
	if st, ok := s.group.Failed(); ok {
		return died(s.dir, st)
	}
	return nil
}

// wait polls until ok returns nil. It ends early when a component dies, and
// when ctx ends.
func (s *supervisor) wait(ctx context.Context, what string, ok func(context.Context) error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var last error
	for {
		if st, failed := s.group.Failed(); failed {
			return died(s.dir, st)
		}
		err := ok(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err // the one that ctx cut short tells nothing
		}
		select {
		case <-ctx.Done():
			cause := context.Cause(ctx)
			if errors.Is(cause, context.Canceled) {
				cause = errors.New("stopped")
			}
			answer := "none"
			if last != nil {
				answer = last.Error()
			}
			return withHint(fmt.Errorf("wait for %s: %w; last answer: %s", what, cause, answer),
				"see the logs: lab cluster logs; a busy machine may need longer: LAB_START_TIMEOUT=5m")
		case <-tick.C:
		}
	}
}
