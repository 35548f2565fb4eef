package cluster

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/controllings/controllings/runner/internal/hint"
)

// Options says which cluster, and where its things are.
type Options struct {
	// Root is the course's checkout.
	Root string
	// Home is LAB_HOME, where all that is kept lies. Default: Root/.lab.
	Home string
	// Name is the provider. Default: "embedded".
	Name string
	// Status takes progress for a person. Default: nobody is told.
	Status io.Writer
}

// State is how a cluster is.
type State struct {
	Provider   string
	State      string // "up", "down" or "degraded"
	Reason     string // of "degraded", for a person
	Kubernetes string // version, "v1.37.2"
	Server     string // address of the API server
	Components []Component
}

// The values of State.State.
const (
	Up       = "up"
	Down     = "down"
	Degraded = "degraded"
)

// Component is how a part of the cluster is.
type Component struct {
	Name     string   `json:"name"`
	PID      int      `json:"pid"`
	State    string   `json:"state"` // "running", "restarting", "failed" or "stopped"
	Restarts int      `json:"restarts"`
	Exit     string   `json:"exit"` // how it last ended
	Log      []string `json:"log"`  // its last lines, once it has failed
}

// Provider is a kind of cluster.
type Provider interface {
	// Name is what CLUSTER= calls it.
	Name() string
	// Up makes the cluster usable, and writes Home/kubeconfig. If it is up
	// already that takes some milliseconds. When ctx ends, nothing is left
	// half-started.
	Up(ctx context.Context) error
	// Down stops it and leaves no process; it is no error if it is down.
	Down(ctx context.Context) error
	// Status finds out how it is.
	Status(ctx context.Context) (State, error)
	// Kubeconfig is the path of the administrator's kubeconfig. While the
	// cluster is down the file may be missing.
	Kubeconfig() string
}

// Chooser is a Provider of a cluster that the user has to name.
type Chooser interface {
	// Chosen returns an error with a hint as long as none is named. It looks at
	// the user's settings alone, and asks no cluster.
	Chosen() error
}

// Logger is a Provider that can show its components' logs.
type Logger interface {
	// Logs writes the last lines of the named component's log, of all when it
	// is "", and with follow goes on until ctx ends.
	Logs(ctx context.Context, w io.Writer, component string, follow bool) error
}

// Guest is a Provider whose cluster is somebody else's: Up only begins to use it,
// and Down leaves it as it was before.
type Guest interface {
	Guest()
}

// Kubectl is a Provider that brings its own kubectl.
type Kubectl interface {
	// Kubectl runs it against the cluster. An *exec.ExitError in the returned
	// error's chain holds its exit code; kubectl has then said why.
	Kubectl(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error
}

// Loader is a Provider whose nodes run containers of images, which a registry need
// not have.
type Loader interface {
	// Load takes an image from this machine's Docker onto each node.
	Load(ctx context.Context, image string) error
}

// Controller is a Provider to whose cluster can be done what happens to one in
// production. What is done is written to w, a line each; an error has a hint.
type Controller interface {
	// Can lists what it can do, of CanRestart, CanCompact and CanNodes.
	Can() []string
	// ControlFile is the path of the file by which a check's process does the
	// same: {"url": …, "token": …}, mode 0600. While the cluster is down it is
	// missing.
	ControlFile() string
	// Component stops, starts, restarts or kills a component: verb is "stop",
	// "start", "restart" or "kill". After start and restart it serves.
	Component(ctx context.Context, w io.Writer, verb, name string) error
	// Compact makes the API server forget the past.
	Compact(ctx context.Context, w io.Writer) error
	// AddNodes adds n nodes and waits until they are ready.
	AddNodes(ctx context.Context, w io.Writer, n int) error
	// RemoveNodes removes all nodes that were added.
	RemoveNodes(ctx context.Context, w io.Writer) error
	// Restore starts what is stopped and removes the nodes that checks added. It
	// is no error if there is nothing to do.
	Restore(ctx context.Context, w io.Writer) error
}

// What a Controller can do.
const (
	CanRestart = "restart" // Component
	CanCompact = "compact" // Compact
	CanNodes   = "nodes"   // AddNodes, RemoveNodes
)

// backends by name.
var backends = map[string]func(Options) Provider{
	"embedded": func(o Options) Provider { return newEmbedded(o) },
	"kind":     func(o Options) Provider { return newKind(o) },
	"existing": func(o Options) Provider { return newExisting(o) },
}

// names of the backends, in the order in which a person should read them.
var names = []string{"embedded", "kind", "existing"}

// Open returns the provider that o names. It starts nothing.
func Open(o Options) (Provider, error) {
	if o.Name == "" {
		o.Name = names[0]
	}
	if o.Home == "" {
		o.Home = filepath.Join(o.Root, ".lab")
	}
	if o.Status == nil {
		o.Status = io.Discard
	}
	open, ok := backends[o.Name]
	if !ok {
		return nil, hint.New("set CLUSTER to one of: "+strings.Join(names, ", "), "no kind of cluster is called %q", o.Name)
	}
	return open(o), nil
}
