package plane

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/controllings/controllings/controlplane/certs"
	"github.com/controllings/controllings/controlplane/component"
	"github.com/controllings/controllings/controlplane/endpoint"
	"github.com/controllings/controllings/controlplane/files"
	"github.com/controllings/controllings/controlplane/supervise"
	"github.com/controllings/controllings/controlplane/warmup"
)

// The descriptors that Up hands to the supervisor.
const (
	fdLock    = 3 // DIR/lock, held
	fdStarter = 4 // reads until the up that started it is gone
	fdReport  = 5 // takes messages for it
)

// The descriptors that the supervisor hands to each component.
const (
	fdLifeline = 3 // see supervise.Tether
	fdKeepLock = 4 // DIR/lock: it is free only when the last component is gone
	fdGate     = 5 // see supervise.Await
)

// How long components get to end by themselves before they are killed. The API
// server would wait for open watches far longer than a learner.
const (
	grace     = 2 * time.Second
	etcdGrace = 4 * time.Second
)

// RunOptions is what the supervisor is told by Up.
type RunOptions struct {
	Nodes      int
	Timeout    time.Duration // to be ready
	Kubernetes string        // version, "v1.37.2"
	Stages     []byte        // kwok's rules
	// Compact makes etcd forget its history, and returns the oldest revision that
	// is left. The working directory is the control plane's folder.
	Compact func(context.Context) (int64, error)
}

// supervisor is the process that keeps one control plane.
type supervisor struct {
	dir    Dir
	o      RunOptions
	self   string // this program
	lock   *supervise.Lock
	line   *supervise.Lifeline
	report reporter
	began  time.Time

	// What the API's clients wait for; a restarted one finds them open.
	apiReady, usable *supervise.Gate

	mu    sync.Mutex // guards what follows
	phase phase
	group *supervise.Group
	ports component.Config
	hold  *os.File      // keeps the API server's port
	api   *api          // as the administrator
	dirty chan struct{} // a state file to write
}

// Run is the life of the supervisor: it starts the components, keeps them, and
// returns when it was told to stop and they are gone. Only Up starts it.
func (d Dir) Run(o RunOptions) error {
	s := &supervisor{
		dir: d, o: o, began: time.Now(), phase: starting, dirty: make(chan struct{}, 1),
		lock:   supervise.Inherit(fdLock),
		report: reporter{os.NewFile(fdReport, "report")},
	}
	syscall.CloseOnExec(fdStarter)
	syscall.CloseOnExec(fdReport)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	signal.Ignore(syscall.SIGHUP) // the terminal may go

	err := s.run(ctx)
	if err != nil {
		err = explain(err)
		m := message{Error: err.Error()}
		var known *Error
		if errors.As(err, &known) {
			m.Hint = known.Hint
		}
		s.report.send(m)
	}
	return err
}

func (s *supervisor) run(ctx context.Context) (err error) {
	defer func() {
		if s.owns() {
			s.dir.tidy()
		}
	}()
	if s.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if s.line, err = supervise.NewLifeline(); err != nil {
		return err
	}
	defer s.line.Close()

	// Until it is ready, the one who asked for it may change their mind.
	start, give := context.WithCancelCause(ctx)
	defer give(nil)
	go func() {
		var b [1]byte
		_, _ = os.NewFile(fdStarter, "starter").Read(b[:])
		give(errors.New("the command that started it was interrupted"))
	}()
	timed, cancel := context.WithTimeoutCause(start, s.o.Timeout, fmt.Errorf("not ready within %s", s.o.Timeout))
	defer cancel()

	watching := make(chan struct{})
	defer func() { close(s.dirty); <-watching }()
	go func() { defer close(watching); s.keepState() }()
	s.changed() // so that Down finds this process from the beginning

	if err := s.start(timed); err != nil {
		return err
	}
	control, err := endpoint.Serve(s.dir.ControlFile(), &actions{s: s}, endpoint.Options{Timeout: s.o.Timeout})
	if err != nil {
		s.stop()
		return err
	}
	s.enter(phaseReady)
	s.report.send(message{Ready: true, Say: fmt.Sprintf("cluster is ready after %s: %s", s.took(), s.ports.Server())})
	log.Printf("ready after %s", s.took())
	warmup.After(warm, gcPercent) // the supervisor is a small program in a big file

	s.serve(ctx)
	s.enter(stopping)
	control.Close()
	s.stop()
	return nil
}

// serve returns when it is time to stop: when the supervisor is told to, or when
// its folder was deleted under it, after which nobody could tell it any more.
func (s *supervisor) serve(ctx context.Context) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			log.Print("told to stop")
			return
		case <-tick.C:
			if !s.owns() {
				log.Print("the folder was deleted: stopping")
				return
			}
		}
	}
}

// owns reports whether the lock file in the folder is the one that is held. If
// not, the folder was deleted, and may be another supervisor's by now.
func (s *supervisor) owns() bool {
	held, err := s.lock.File().Stat()
	if err != nil {
		return true // no reason to give up
	}
	there, err := os.Stat(s.dir.lockFile())
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return os.SameFile(held, there)
}

// start brings everything up, trying again where that can help.
func (s *supervisor) start(ctx context.Context) error {
	pki, err := s.prepare()
	if err != nil {
		return err
	}
	freshPorts := false
	for attempt := 1; ; attempt++ {
		hadData := s.dir.hasData()
		if err := s.attempt(ctx, pki, freshPorts); err == nil {
			return nil
		} else if again := s.mend(err, hadData, attempt); !again {
			return err
		}
		freshPorts = true
	}
}

// mend looks at why an attempt failed, and reports whether another one may do.
func (s *supervisor) mend(err error, hadData bool, attempt int) bool {
	var died *diedError
	if attempt >= 4 || !errors.As(err, &died) {
		return false
	}
	log.Print(err)
	switch {
	case diskFull(died.status.Log):
		return false
	case portTaken(died.status.Log):
		s.say("a port was taken by another program in the meantime: choosing others")
		return true
	case died.status.Name == "etcd" && hadData:
		said, err := s.dir.setAside("etcd can't read it: " + lastLine(died.status.Log))
		if err != nil {
			log.Print(err)
			return false
		}
		s.say(said)
		return true
	}
	return false
}

// prepare makes everything that the components find in their folder.
func (s *supervisor) prepare() (*certs.PKI, error) {
	if err := s.dir.make(); err != nil {
		return nil, err
	}
	if err := s.dir.checkDisk(); err != nil {
		return nil, err
	}
	said, err := s.dir.checkVersion(s.o.Kubernetes)
	if err != nil {
		return nil, err
	}
	if said != "" {
		s.say(said)
	}
	s.rotateLogs()
	if err := files.Write(s.dir.path(component.StagesFile), s.o.Stages); err != nil {
		return nil, err
	}
	return certs.Ensure(s.dir.path(component.PKIDir), certs.Options{
		ServiceIP: component.ServiceIP,
		Clients: []certs.Client{
			{Name: component.AdminClient, User: "kubernetes-admin", Groups: []string{"system:masters"}},
			{Name: component.ControllerManagerClient, User: "system:kube-controller-manager"},
			{Name: component.SchedulerClient, User: "system:kube-scheduler"},
			// It plays all kubelets at once, which no built-in role is for.
			{Name: component.KwokClient, User: "kwok", Groups: []string{"system:masters"}},
		},
	})
}

// attempt starts the components once, and waits until the cluster is usable.
// When it fails, none of them is left.
func (s *supervisor) attempt(ctx context.Context, pki *certs.PKI, freshPorts bool) (err error) {
	ports, hold, err := s.dir.takePort(freshPorts)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = hold.Close() // nil where nothing is held
		}
	}()
	for _, c := range []string{component.ControllerManagerClient, component.SchedulerClient, component.KwokClient, component.AdminClient} {
		data, err := pki.Kubeconfig(c, ports.Server())
		if err != nil {
			return err
		}
		path := s.dir.path(component.Kubeconfig(c))
		if c == component.AdminClient {
			path = s.dir.Kubeconfig()
		}
		if err := files.Write(path, data); err != nil {
			return err
		}
	}
	tls, err := pki.TLS(component.AdminClient)
	if err != nil {
		return err
	}
	for _, g := range []**supervise.Gate{&s.apiReady, &s.usable} {
		if *g, err = supervise.NewGate(); err != nil {
			return err
		}
	}
	a := newAPI(ports.Server(), tls)
	s.mu.Lock()
	s.ports, s.hold, s.api = ports, hold, a
	s.group = supervise.NewGroup(supervise.Options{Changed: s.changed})
	s.mu.Unlock()
	defer func() {
		if err != nil {
			s.stop()
			s.apiReady.Close()
			s.usable.Close()
		}
	}()
	return s.bringUp(ctx, a)
}

// launch starts a component, which begins its work when the gate opens.
func (s *supervisor) launch(name string, gate *supervise.Gate) error {
	i := slices.Index(component.Names(), name)
	c := component.All()[i]
	log.Printf("%s: starting %s", s.took(), name)
	return s.group.Start(supervise.Spec{
		Name: c.Name,
		Path: s.self,
		Args: append([]string{c.Name}, c.Args(s.ports)...),
		Dir:  string(s.dir),
		Env: append([]string{
			// Nothing else of the user's environment: no proxy on the way to
			// loopback, no KUBECONFIG, no settings from a home folder.
			"PATH=" + os.Getenv("PATH"),
			"HOME=" + s.dir.tmp(),
			"TMPDIR=" + s.dir.tmp(),
			TetherEnv + "=1",
		}, warmup.Env()...),
		Log:     s.dir.Log(c.Name),
		Inherit: []*os.File{s.line.File(), s.lock.File(), gate.File()}, // fdLifeline, fdKeepLock, fdGate
	})
}

// TetherEnv is set for a process that is started as a component, so that it
// binds itself to its supervisor. Without it, "controlplane etcd" is just etcd.
const TetherEnv = "CONTROLPLANE_TETHER"

// How long a component counts as starting, and how tight its memory is kept
// after that: see package warmup.
const (
	warm      = 8 * time.Second
	gcPercent = 60
)

// Tether binds a component's process to the supervisor that started it, and
// returns when the component's time has come.
func Tether() {
	if os.Getenv(TetherEnv) == "" {
		return
	}
	_ = os.Unsetenv(TetherEnv)
	syscall.CloseOnExec(fdKeepLock)
	supervise.Tether(fdLifeline)
	supervise.Await(fdGate)
	warmup.After(warm, gcPercent)
}

// stop ends the components, etcd after those that write to it.
func (s *supervisor) stop() {
	s.mu.Lock()
	g := s.group
	s.mu.Unlock()
	if g == nil {
		return
	}
	g.Stop(grace, component.Names()[1:]...)
	g.Stop(etcdGrace)
}

func (s *supervisor) took() time.Duration { return time.Since(s.began).Round(10 * time.Millisecond) }

func (s *supervisor) say(text string) {
	log.Print(text)
	s.report.send(message{Say: text})
}

func (s *supervisor) enter(p phase) {
	s.mu.Lock()
	s.phase = p
	s.mu.Unlock()
	s.changed()
}

func (s *supervisor) changed() {
	select {
	case s.dirty <- struct{}{}:
	default: // one is due already
	}
}

// keepState writes the state file after changes.
func (s *supervisor) keepState() {
	for range s.dirty {
		if !s.owns() {
			continue
		}
		s.mu.Lock()
		r := record{Supervisor: os.Getpid(), Kubernetes: s.o.Kubernetes, Phase: s.phase, Server: s.ports.Server()}
		if s.group != nil {
			r.Components = s.group.Status()
		}
		s.mu.Unlock()
		if err := s.dir.writeState(r); err != nil {
			log.Print(err) // status then tells less, nothing else
		}
	}
}

// rotateLogs keeps the logs of one run before this.
func (s *supervisor) rotateLogs() {
	for _, n := range component.Names() {
		_ = os.Rename(s.dir.Log(n), s.dir.Log(n)+".old")
	}
}

// diedError is a component's death before the cluster was ready.
type diedError struct{ status supervise.Status }

func (e *diedError) Error() string {
	return fmt.Sprintf("start %s: %s; its last lines:\n  %s", e.status.Name, e.status.Exit, strings.Join(e.status.Log, "\n  "))
}

func died(dir Dir, st supervise.Status) error {
	err := &diedError{status: st}
	if diskFull(st.Log) {
		return withHint(err, diskHint)
	}
	return withHint(err, fmt.Sprintf("its log is %s; if this happens again, delete %s and start anew", dir.Log(st.Name), filepath.Clean(string(dir))))
}

func lastLine(lines []string) string {
	if len(lines) == 0 {
		return "it says nothing"
	}
	l := lines[len(lines)-1]
	return l[:min(len(l), 200)]
}
