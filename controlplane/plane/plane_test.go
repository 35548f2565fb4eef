package plane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/controllings/controllings/controlplane/component"
)

// The test binary plays all parts: Up starts it as the supervisor, which starts
// it as the components. What they do wrong is written in files in their folder:
// play-etcd and so on, a line for each start.

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == SuperviseCommand:
		// supervise --dir DIR --nodes N --timeout D
		timeout, _ := time.ParseDuration(os.Args[7])
		nodes, _ := strconv.Atoi(os.Args[5])
		err := Dir(os.Args[3]).Run(RunOptions{Nodes: nodes, Timeout: timeout, Kubernetes: "v1.0.0", Stages: []byte("stages"), Compact: fakeCompact})
		if err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case len(os.Args) > 1 && slices.Contains(component.Names(), os.Args[1]):
		Tether()
		os.Exit(playComponent(os.Args[1], os.Args[2:]))
	}
	os.Exit(m.Run())
}

func playComponent(name string, args []string) int {
	switch wrong := nextWrong(name); wrong {
	case "":
	case "bind":
		fmt.Println("listen tcp 127.0.0.1:1: bind: address already in use")
		return 1
	case "corrupt":
		fmt.Println("panic: file checksum does not match")
		return 2
	case "full":
		fmt.Println("write etcd/member/wal: no space left on device")
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch name {
	case "etcd":
		_ = os.MkdirAll("etcd/member", 0o700)
		_ = os.WriteFile("etcd-serves", nil, 0o600)
	case "kube-apiserver":
		go serve(args)
	}
	<-ctx.Done()
	return 0
}

// nextWrong takes the first line of play-NAME.
func nextWrong(name string) string {
	data, err := os.ReadFile("play-" + name)
	if err != nil {
		return ""
	}
	line, rest, _ := strings.Cut(string(data), "\n")
	_ = os.WriteFile("play-"+name, []byte(rest), 0o600)
	return line
}

// plane makes a folder in which components will do these things wrong.
func plane(t *testing.T, wrong map[string][]string) Dir {
	t.Helper()
	d, err := Open(filepath.Join(t.TempDir(), "with space, 汉字"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.make(); err != nil {
		t.Fatal(err)
	}
	for name, lines := range wrong {
		if err := os.WriteFile(d.path("play-"+name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := d.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// kwokDies lets kwok die whenever it is started, until kwokLives. One that was
// started before may be slow, and take a line of its own.
func kwokDies(t *testing.T, d Dir) {
	t.Helper()
	if err := os.WriteFile(d.path("play-kwok"), []byte(strings.Repeat("corrupt\n", 99)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func kwokLives(t *testing.T, d Dir) {
	t.Helper()
	if err := os.Remove(d.path("play-kwok")); err != nil {
		t.Fatal(err)
	}
}

// up starts it and returns what was said.
func up(ctx context.Context, d Dir) (string, error) {
	var said bytes.Buffer
	err := d.Up(ctx, UpOptions{Nodes: 2, Timeout: 20 * time.Second, Kubernetes: "v1.0.0", Progress: &said})
	return said.String(), err
}

func hintOf(err error) string {
	var known *Error
	if errors.As(err, &known) {
		return known.Hint
	}
	return ""
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("not within 20 s: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestUpAndDown(t *testing.T) {
	d := plane(t, nil)
	if st := d.Status(t.Context()); st.State != Down {
		t.Errorf("before: %+v", st)
	}
	said, err := up(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said, "cluster is ready") {
		t.Errorf("said %q", said)
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
	if said, err := up(t.Context(), d); err != nil || said != "" {
		t.Errorf("up again: %q, %v; want nothing to do", said, err)
	}
	if err := d.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := d.Status(t.Context()); st.State != Down {
		t.Errorf("after: %+v", st)
	}
	if _, err := os.Stat(d.stateFile()); !os.IsNotExist(err) {
		t.Error("the state file is left")
	}
}

func TestThreeUpsAtOnce(t *testing.T) {
	d := plane(t, nil)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if said, err := up(t.Context(), d); err != nil {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(d.Log(SupervisorName))
	if err != nil || strings.Count(string(data), "starting etcd") != 1 {
		t.Errorf("etcd was not started once: %s, %v", data, err)
	}
}

func TestATakenPortIsReplaced(t *testing.T) {
	d := plane(t, map[string][]string{"kube-apiserver": {"bind", "bind"}})
	said, err := up(t.Context(), d)
	if err != nil || !strings.Contains(said, "choosing others") {
		t.Errorf("%v; said %q", err, said)
	}
}

func TestPortsThatAreNeverFreeEndInAnError(t *testing.T) {
	d := plane(t, map[string][]string{"kube-apiserver": slices.Repeat([]string{"bind"}, 9)})
	if _, err := up(t.Context(), d); err == nil || !strings.Contains(err.Error(), "start kube-apiserver") {
		t.Errorf("err = %v", err)
	}
	if st := d.Status(t.Context()); st.State != Down {
		t.Errorf("status = %+v, want down", st)
	}
}

func TestDamagedDataIsSetAsideOnce(t *testing.T) {
	d := plane(t, map[string][]string{"etcd": {"corrupt"}})
	if err := os.MkdirAll(d.path("etcd", "member"), 0o700); err != nil {
		t.Fatal(err)
	}
	said, err := up(t.Context(), d)
	if err != nil || !strings.Contains(said, "checksum does not match") || !strings.Contains(said, "set aside as etcd.aside-") {
		t.Errorf("%v; said %q", err, said)
	}
}

func TestEtcdThatDiesWithoutOldDataIsAnError(t *testing.T) {
	d := plane(t, map[string][]string{"etcd": {"corrupt"}})
	_, err := up(t.Context(), d)
	if err == nil || !strings.Contains(err.Error(), "exit status 2") || !strings.Contains(err.Error(), "checksum does not match") {
		t.Errorf("err = %v, want exit status and last lines", err)
	}
	if !strings.Contains(hintOf(err), d.Log("etcd")) {
		t.Errorf("hint = %q, want the log's path", hintOf(err))
	}
}

func TestAFullDiskIsToldAndKeepsTheData(t *testing.T) {
	d := plane(t, map[string][]string{"etcd": {"full"}})
	if err := os.MkdirAll(d.path("etcd", "member"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := up(t.Context(), d); hintOf(err) != diskHint {
		t.Errorf("err = %v, hint = %q", err, hintOf(err))
	}
	if aside, _ := filepath.Glob(d.path("etcd.aside-*")); len(aside) != 0 || !d.hasData() {
		t.Error("the data is not where it was")
	}
	if _, err := up(t.Context(), d); err != nil { // there is room now
		t.Error(err)
	}
}

func TestDataOfAnotherVersionIsSetAside(t *testing.T) {
	d := plane(t, nil)
	if err := os.MkdirAll(d.path("etcd", "member"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.versionFile(), []byte("v0.9.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := up(t.Context(), d); err != nil || !strings.Contains(said, "written by Kubernetes v0.9.0") {
		t.Errorf("%v; said %q", err, said)
	}
	if err := d.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if said, err := up(t.Context(), d); err != nil || strings.Contains(said, "aside") {
		t.Errorf("next time: %v; said %q", err, said)
	}
}

func TestAnInterruptedUpTakesDownWhatItStarted(t *testing.T) {
	d := plane(t, nil)
	if err := os.WriteFile(d.path("unready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for len(d.Status(ctx).Components) < 2 && ctx.Err() == nil {
			<-tick.C
		}
		cancel()
	}()
	_, err := up(ctx, d)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "nothing is left running") {
		t.Errorf("err = %v", err)
	}
	if st := d.Status(t.Context()); st.State != Down {
		t.Errorf("status = %+v, want down", st)
	}
}

func TestTooSlowAStartEndsInAnErrorThatSaysWhatItWaitedFor(t *testing.T) {
	d := plane(t, nil)
	if err := os.WriteFile(d.path("unready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := d.Up(t.Context(), UpOptions{Timeout: 500 * time.Millisecond, Progress: &bytes.Buffer{}})
	if err == nil || !strings.Contains(err.Error(), "wait for the API server: not ready within 500ms") || hintOf(err) == "" {
		t.Errorf("err = %v, hint = %q", err, hintOf(err))
	}
}

func TestDownWhileStarting(t *testing.T) {
	d := plane(t, nil)
	if err := os.WriteFile(d.path("unready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := up(context.Background(), d); done <- err }()
	eventually(t, "it is starting", func() bool { return len(d.Status(t.Context()).Components) > 0 })
	if err := d.Down(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("up says that all is well")
	}
}

func TestAClusterOfAnotherVersionIsStartedAnew(t *testing.T) {
	d := plane(t, nil)
	if _, err := up(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
	before, err := d.readState()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	// The supervisor of this test is always of v1.0.0.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err = d.Up(ctx, UpOptions{Timeout: 10 * time.Second, Kubernetes: "v2.0.0", Progress: &said})
	if err != nil || !strings.Contains(said.String(), "it is Kubernetes v1.0.0") {
		t.Errorf("%v; said %q", err, said.String())
	}
	if after, err := d.readState(); err != nil || after.Supervisor == before.Supervisor {
		t.Errorf("supervisor %d, %v; want another", after.Supervisor, err)
	}
}

func TestUpMendsWhatHasFailed(t *testing.T) {
	d := plane(t, nil)
	if _, err := up(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
	kwokDies(t, d)
	i := slices.Index(component.Names(), "kwok")
	if err := syscall.Kill(d.Status(t.Context()).Components[i].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has failed", func() bool { return d.Status(t.Context()).broken })
	kwokLives(t, d)
	st := d.Status(t.Context())
	if st.State != Degraded || st.Reason != "kwok has failed: exit status 2" || len(st.Components[i].Log) == 0 || st.Components[i].Restarts != 3 {
		t.Errorf("status = %+v", st)
	}
	if said, err := up(t.Context(), d); err != nil || !strings.Contains(said, "kwok has failed") {
		t.Errorf("%v; said %q", err, said)
	}
	eventually(t, "it is up", func() bool { return d.Status(t.Context()).State == Up })
}

// Who deletes the folder of a running cluster gets rid of the cluster.
func TestADeletedFolderEndsTheCluster(t *testing.T) {
	d := plane(t, nil)
	if _, err := up(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	var r record
	eventually(t, "the state is written", func() bool {
		var err error
		r, err = d.readState()
		return err == nil && r.Phase == phaseReady && len(r.Components) == 5
	})
	if err := os.RemoveAll(string(d)); err != nil {
		t.Fatal(err)
	}
	// Another cluster may begin there at once.
	if said, err := up(t.Context(), d); err != nil {
		t.Errorf("%v; said %q", err, said)
	}
	for _, c := range r.Components {
		// The supervisor waits for its components, so they are not even zombies.
		eventually(t, c.Name+" is gone", func() bool { return syscall.Kill(c.PID, 0) != nil })
	}
	if st := d.Status(t.Context()); st.State != Up {
		t.Errorf("status of the new one = %+v, want up", st)
	}
}

// Files that an earlier life left must not lead to a foreign process.
func TestStaleState(t *testing.T) {
	d := plane(t, nil)
	if err := d.writeState(record{Supervisor: os.Getpid(), Phase: phaseReady}); err != nil {
		t.Fatal(err)
	}
	if st := d.Status(t.Context()); st.State != Down {
		t.Errorf("status = %+v, want down", st)
	}
	if err := d.Down(t.Context()); err != nil { // would end this test
		t.Error(err)
	}
}

func TestChoosePort(t *testing.T) {
	d := plane(t, nil)
	first, err := d.choosePort(false)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := d.choosePort(false); err != nil || again != first {
		t.Errorf("again: %+v, %v; want %+v", again, err, first)
	}
	l, err := net.Listen("tcp", loopback(first.APIPort))
	if err != nil {
		t.Skip("somebody else took it")
	}
	defer l.Close()
	if other, err := d.choosePort(false); err != nil || other == first {
		t.Errorf("while it is taken: %+v, %v", other, err)
	}
	for _, junk := range []string{"", "{", `{"APIPort":-5}`, `{"APIPort":99999999}`, "\x00"} {
		if err := os.WriteFile(d.portsFile(), []byte(junk), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := d.choosePort(false); err != nil || c.APIPort <= 0 {
			t.Errorf("after %q: %+v, %v", junk, c, err)
		}
	}
}

func TestAFolderThatCantBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(filepath.Join(file, "below"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := up(t.Context(), d); err == nil || !strings.HasPrefix(err.Error(), "make folder: ") {
		t.Errorf("err = %v", err)
	}
}

func TestLogs(t *testing.T) {
	d := plane(t, nil)
	if err := os.WriteFile(d.Log("etcd"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.Logs(t.Context(), &out, LogsOptions{Components: []string{"etcd"}, Tail: 1}); err != nil || out.String() != "two\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	if err := d.Logs(t.Context(), &out, LogsOptions{Tail: 9}); err != nil || !strings.Contains(out.String(), "etcd                     one\n") {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := d.Logs(t.Context(), &out, LogsOptions{Components: []string{"../state"}}); hintOf(err) == "" {
		t.Errorf("err = %v", err)
	}
}
