package endpoint

import (
	"context"

	"github.com/controllings/controllings/controlplane/supervise"
)

// Actions is what the endpoint offers. No two of them are called at once, but
// Components, which may be called at any time. Their contexts end when whoever
// asked has gone away, or when the time is up. An error that is an *Error is
// passed on with its code and hint; the code of any other is 500.
type Actions interface {
	// Components is how the components are.
	Components() []supervise.Status
	// Stop ends a component, which stays down until it is started. It is no error
	// if it is down.
	Stop(ctx context.Context, component string) error
	// Start starts a component, and returns when it serves. It is no error if it
	// runs.
	Start(ctx context.Context, component string) error
	// Restart is Stop and Start.
	Restart(ctx context.Context, component string) error
	// Kill kills a component, as kill -9 does, and doesn't wait for its restart.
	Kill(ctx context.Context, component string) error
	// Compact makes the API server forget all that was before, and returns when
	// no list at an older revision is answered any more. It returns the oldest
	// revision that is left.
	Compact(ctx context.Context) (revision int64, err error)
	// AddNodes adds n simulated nodes for somebody, and returns their names when
	// they are ready.
	AddNodes(ctx context.Context, n int, by string) ([]string, error)
	// RemoveNodes removes the nodes that somebody added, with "" those of all,
	// and returns their names when they are gone.
	RemoveNodes(ctx context.Context, by string) ([]string, error)
	// Restore starts what is stopped or has failed, removes the nodes that checks
	// added, and rouses who waits before asking the API server again. It returns
	// what it did, a line each, when the API server is ready.
	Restore(ctx context.Context) ([]string, error)
}

// Who adds nodes.
const (
	ByUser  = "user"
	ByCheck = "check" // Restore removes those
)

// MaxNodes is how many nodes can be added at once.
const MaxNodes = 1000

// Answer is the answer to every request. Which fields are set depends on what
// was asked.
type Answer struct {
	Components []supervise.Status `json:"components,omitempty"`
	Revision   int64              `json:"revision,omitempty"`
	Nodes      []string           `json:"nodes,omitempty"`
	Did        []string           `json:"did,omitempty"`
	Error      string             `json:"error,omitempty"`
	Hint       string             `json:"hint,omitempty"`
}

// Error is why an action was not done, with what to do about it.
type Error struct {
	Code int // HTTP status
	Err  error
	Hint string // "" if there is none
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that the hint is about.
func (e *Error) Unwrap() error { return e.Err }
