package testbed

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/controllings/controllings/testbed/proxy"
	"github.com/controllings/controllings/todo/channel"
)

// Bed is an isolated place on the cluster for one check. Make it with New.
type Bed struct {
	t         testing.TB
	goroutine string // the test's own
	report    *report

	admin     *rest.Config
	adminSeen *writes           // what admin and foreign actor wrote
	transport http.RoundTripper // admin's
	clients   *kubernetes.Clientset
	namespace string
	more      moreNamespaces
	home      string // see ours.Home
	proxy     *proxy.Proxy

	background sync.WaitGroup     // heartbeat, collection of stale beds
	stop       context.CancelFunc // ends them

	byName sync.Map // of *Client

	control     *Control // nil = none was asked for, or there is none
	controlOnce sync.Once

	processesMu sync.Mutex // guards what runs beside the check
	processes   []*Process
	externals   []*External
}

// Bounds of what the testbed itself does at the API server.
const (
	setupTimeout    = 20 * time.Second
	teardownTimeout = 10 * time.Second
)

// New makes a bed. It is gone at the end of the test; nothing has to be closed.
//
// Where that isn't possible the test ends here: with "no cluster: run make
// cluster-up" where none is up. This says nothing about the learner's code, and
// the verdict is "error".
//
// New sets $HOME to an empty folder and takes $KUBECONFIG and KUBERNETES_* away
// for the time of the test, so it can't be used in a parallel test.
func New(t testing.TB) *Bed {
	t.Helper()
	b := &Bed{t: t, goroutine: goroutineID(), report: watchOver(t)}

	controlFile() // both are read before the environment is set aside
	admin, err := clusterConfig()
	if err != nil {
		b.giveUp(err)
	}
	if b.home, err = clusterHome(); err != nil {
		b.giveUp(err)
	}
	if err := setAside(t); err != nil {
		b.giveUp(err)
	}
	if err := b.setUp(admin); err != nil {
		b.giveUp(err)
	}
	return b
}

func (b *Bed) setUp(admin *rest.Config) error {
	// Not the test's context: it ends before the clean-ups that need it.
	ctx, cancel := context.WithTimeout(context.Background(), Scale(setupTimeout))
	defer cancel()

	b.adminSeen = &writes{}
	b.admin = b.adminSeen.watch(admin)
	client, err := rest.HTTPClientFor(b.admin)
	if err != nil {
		return fmt.Errorf("make the admin's client: %w", err)
	}
	b.transport = client.Transport
	if b.clients, err = kubernetes.NewForConfigAndClient(b.admin, client); err != nil {
		return fmt.Errorf("make the admin's client: %w", err)
	}
	namespace, err := b.createNamespace(ctx)
	if err != nil {
		return err
	}
	b.namespace = namespace.Name
	running, stop := context.WithCancel(context.Background())
	b.stop = stop
	// A step that is not written ends the process without any clean-up.
	stays := channel.BeforeExit(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Scale(time.Second))
		defer cancel()
		_ = b.removeNamespaces(ctx, nil) // else the next run collects it
	})
	b.t.Cleanup(stays)
	b.t.Cleanup(b.tearDown)
	b.background.Go(func() { b.keepAlive(running) })

	err = together(
		func() error {
			var err error
			b.proxy, err = proxy.Start(proxy.Options{Upstream: admin, As: learner(b.namespace)})
			return err
		},
		func() error { return b.createAccounts(ctx) },
		func() error { return b.grant(ctx, namespace) },
		func() error { return b.installCRDs(ctx) },
	)
	if err != nil {
		return err
	}
	collectOnce.Do(func() {
		b.background.Go(func() { b.collectStale(running) })
	})
	b.watchDeadline()
	return nil
}

// tearDown leaves nothing behind, and doesn't wait for the API server to finish.
func (b *Bed) tearDown() {
	ctx, cancel := context.WithTimeout(context.Background(), Scale(teardownTimeout))
	defer cancel()
	b.stop()
	b.background.Wait()
	var written []resource
	if b.proxy != nil {
		b.proxy.Close() // from here on the learner's code can't write any more
		written = writtenIn(b.proxy.Traffic())
	}
	written = append(written, b.adminSeen.list()...)
	if err := b.removeNamespaces(ctx, written); err != nil {
		// The next run collects them. It is no fault of the learner's.
		b.t.Logf("testbed: %v", err)
	}
	utilnet.CloseIdleConnectionsFor(b.transport)
}

// Namespace is the bed's own namespace.
func (b *Bed) Namespace() string { return b.namespace }

// Context ends with the check, before its clean-ups run.
func (b *Bed) Context() context.Context { return b.t.Context() }

// Traffic is the record of what the learner's code sent. Requests of Admin and
// Foreign are not in it.
func (b *Bed) Traffic() *proxy.Traffic { return b.proxy.Traffic() }

// Faults are the rules by which the learner's requests fail.
func (b *Bed) Faults() *proxy.Faults { return b.proxy.Faults() }

// together runs the functions at once and returns all their errors as one.
func together(fns ...func() error) error {
	errs := make([]error, len(fns))
	var wg sync.WaitGroup
	for i, fn := range fns {
		wg.Go(func() { errs[i] = fn() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
