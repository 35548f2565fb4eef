package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// Control does to the cluster what happens to one in production: it stops, starts
// and kills its components, makes the API server forget the past, and adds nodes.
// Get it with Bed.Control.
//
// Its methods return when what they do is done, on any goroutine. What goes wrong
// is no doing of the learner's: the check ends, and its verdict is "error".
type Control struct {
	b    *Bed
	file string

	mu      sync.Mutex
	stopped map[string]bool // by this check, and not started since
}

// The components of the cluster.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok" // plays the kubelets
)

// controlFile is where the runner says how to control the cluster: $LAB_CONTROL.
// It does so only for a check whose chapter.yaml says "needs", and only where the
// cluster can do it. It is read once, as the kubeconfig's path is.
var controlFile = sync.OnceValue(func() string { return os.Getenv("LAB_CONTROL") })

// Control is how this check controls the cluster. In chapter.yaml the check says
// what it needs, and that it is alone on the cluster, since all others feel it:
//
//	serial: true
//	needs: [restart]          # Stop, Start, Restart, Kill
//	needs: [compact, nodes]   # Compact; AddNodes
//
// Where the cluster can't be controlled, the check is skipped here. At the end of
// the check everything is put back: what was stopped is started, nodes that were
// added are gone. Call it on the test's own goroutine.
func (b *Bed) Control() *Control {
	b.t.Helper()
	b.controlOnce.Do(func() {
		if controlFile() == "" {
			b.report.skip("it stops and restarts parts of the cluster, which only the runner lets it do: `make chapter-N`, on a cluster that can (CLUSTER=embedded), and with `needs` in chapter.yaml")
			return
		}
		b.control = &Control{b: b, file: controlFile(), stopped: map[string]bool{}}
		b.t.Cleanup(b.control.putBack) // before tearDown, which needs the API server
	})
	if b.control == nil {
		b.t.SkipNow()
	}
	return b.control
}

// Stop ends a component, and it stays down until it is started. While the API
// server is down its port refuses connections; learner's code, which comes through
// the bed's proxy, gets 503 ServiceUnavailable. Stopping what is down is no error.
func (c *Control) Stop(ctx context.Context, component string) {
	c.b.t.Helper()
	// Noted before: another goroutine of the check may ask for a sign of life.
	c.note(component, true)
	c.component(ctx, component, "stop")
}

// Start starts a component and waits until it serves: the API server is ready,
// at the same port as before. The cluster's own controllers, as all its clients,
// come back when they next try, which may take as long as it was away. Starting
// what runs is no error.
func (c *Control) Start(ctx context.Context, component string) {
	c.b.t.Helper()
	c.component(ctx, component, "start")
	c.note(component, false)
}

// Restart stops a component, starts it, and waits until it serves. Open watches
// end; the API server's port stays the same, and its memory of past events is
// gone, so that a watch from an old resourceVersion gets 410 Expired.
func (c *Control) Restart(ctx context.Context, component string) {
	c.b.t.Helper()
	c.note(component, true)
	c.component(ctx, component, "restart")
	c.note(component, false)
}

// Kill kills a component, as kill -9 does. It is restarted by itself half a second
// later; Kill doesn't wait for that.
func (c *Control) Kill(ctx context.Context, component string) {
	c.b.t.Helper()
	c.component(ctx, component, "kill")
}

// Compact makes the API server forget all that was: from then on a list with an
// older continue token, or at an older resourceVersion exactly, gets 410 Expired,
// whatever its type. It takes up to 15 seconds, as often as the API server drops
// old snapshots from its memory. A watch from an old resourceVersion goes on
// being served from that memory: Restart the API server too to have it expire.
func (c *Control) Compact(ctx context.Context) {
	c.b.t.Helper()
	_, err := c.do(ctx, http.MethodPost, "/v1/compact", nil)
	c.b.Must(err, "compact etcd")
}

// AddNodes adds n simulated nodes, from 1 to 1000, and returns their names when
// they are ready.
func (c *Control) AddNodes(ctx context.Context, n int) []string {
	c.b.t.Helper()
	a, err := c.do(ctx, http.MethodPost, "/v1/nodes", map[string]any{"count": n, "by": "check"})
	c.b.Must(err, fmt.Sprintf("add %d nodes", n))
	return a.Nodes
}

// RemoveNodes removes the nodes that checks added, and returns when they are gone.
func (c *Control) RemoveNodes(ctx context.Context) {
	c.b.t.Helper()
	_, err := c.do(ctx, http.MethodDelete, "/v1/nodes?by=check", nil)
	c.b.Must(err, "remove the nodes that were added")
}

func (c *Control) component(ctx context.Context, name, verb string) {
	c.b.t.Helper()
	_, err := c.do(ctx, http.MethodPost, "/v1/components/"+url.PathEscape(name)+"/"+verb, nil)
	c.b.Must(err, verb+" "+name)
}

func (c *Control) note(component string, stopped bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped[component] = stopped
}

// silent reports whether this check made the API server unable to answer.
func (c *Control) silent() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped[APIServer] || c.stopped[Etcd]
}

// asLeft returns nil if the components run, but for those that this check
// stopped: who waits while the API server is down sees no answer from it, and
// that must be the check's doing, not the machine's.
func (c *Control) asLeft(ctx context.Context) error {
	a, err := c.do(ctx, http.MethodGet, "/v1/components", nil)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, st := range a.Components {
		if st.State == "failed" || (st.State == "stopped" && !c.stopped[st.Name]) {
			return fmt.Errorf("%s is %s", st.Name, st.State)
		}
	}
	if len(a.Components) == 0 {
		return errors.New("it has no components")
	}
	return nil
}

// putBackTime is for what may have to be started: etcd, the API server.
const putBackTime = time.Minute

// putBack leaves the cluster as it was found.
func (c *Control) putBack() {
	ctx, cancel := context.WithTimeout(context.Background(), Scale(putBackTime))
	defer cancel()
	_, err := c.do(ctx, http.MethodPost, "/v1/restore", nil)
	if err != nil {
		// The runner tries again, and says so if it can't either.
		c.b.t.Logf("testbed: put the cluster back: %v", err)
	}
}

type componentStatus struct{ Name, State string }

// answer is what the control endpoint says; see controlplane/endpoint.
type answer struct {
	Components  []componentStatus
	Nodes       []string
	Error, Hint string
}

// do asks the cluster's control endpoint, which is HTTP on loopback. The file is
// read each time: a cluster that was started anew has another address.
func (c *Control) do(ctx context.Context, method, path string, body any) (answer, error) {
	var a answer
	data, err := os.ReadFile(c.file)
	if err != nil {
		return a, fmt.Errorf("find the cluster's control endpoint: %w", err)
	}
	var where struct{ URL, Token string }
	if err := json.Unmarshal(data, &where); err != nil {
		return a, fmt.Errorf("read %q: %w", c.file, err)
	}
	var r io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return a, err
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, where.URL+path, r)
	if err != nil {
		return a, fmt.Errorf("read %q: %w", c.file, err)
	}
	req.Header.Set("Authorization", "Bearer "+where.Token)
	// No proxy and no kept connection: goroutines of those look like the learner's.
	transport := &http.Transport{
		DialContext:       (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		DisableKeepAlives: true,
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return a, fmt.Errorf("ask the cluster's control endpoint: %w", err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&a); err != nil {
		return a, fmt.Errorf("read the control endpoint's answer: %w", err)
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		return a, nil
	case a.Hint != "":
		return a, fmt.Errorf("%s (%s)", a.Error, a.Hint)
	default:
		return a, errors.New(a.Error)
	}
}
