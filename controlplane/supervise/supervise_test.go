package supervise

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary plays the processes too: with PLAY set it is one of these.
var plays = map[string]func(){
	// sleep lives until it is told to go.
	"sleep": func() { fmt.Println("here"); wait() },
	// stubborn does not listen to SIGTERM.
	"stubborn": func() { signal.Ignore(syscall.SIGTERM); fmt.Println("here"); wait() },
	// die says why, and dies.
	"die": func() { fmt.Println("what a pity\n\ngoroutine 1:\nmain.main()\n\t/a/file.go:1"); os.Exit(7) },
	// tethered lives as long as the lifeline it got.
	"tethered": func() { Tether(3); fmt.Println("here"); wait() },
	// keeper starts a tethered child that also holds a lock, says its pid, and
	// waits to be killed.
	"keeper": func() {
		line, err := NewLifeline()
		must(err)
		lock, err := TryLock(os.Getenv("LOCK"))
		must(err)
		g := NewGroup(Options{})
		must(g.Start(Spec{
			Name: "child", Path: self(), Env: []string{"PLAY=tethered"}, Log: os.DevNull,
			Inherit: []*os.File{line.File(), lock.File()},
		}))
		fmt.Println(g.Status()[0].PID)
		wait()
	},
	// gated waits at the gate it got.
	"gated": func() { fmt.Println("here"); Await(3); fmt.Println("through") },
	// holder inherits a lock and holds it until its input ends.
	"holder": func() { Inherit(3); fmt.Println("here"); _, _ = os.Stdin.Read(make([]byte, 1)) },
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func self() string {
	exe, err := os.Executable()
	must(err)
	return exe
}

func TestMain(m *testing.M) {
	if play, ok := plays[os.Getenv("PLAY")]; ok {
		play()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func spec(t *testing.T, play string) Spec {
	return Spec{Name: play, Path: self(), Env: []string{"PLAY=" + play}, Log: filepath.Join(t.TempDir(), "log")}
}

// eventually polls until ok, for ten seconds at most.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("not within 10 s: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func fast() Options {
	return Options{Backoff: []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}}
}

func TestAProcessThatIsKilledIsRestarted(t *testing.T) {
	g := NewGroup(fast())
	if err := g.Start(spec(t, "sleep")); err != nil {
		t.Fatal(err)
	}
	defer g.Stop(time.Second)
	g.Forgive()
	first := g.Status()[0].PID
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another process runs", func() bool {
		s := g.Status()[0]
		return s.State == Running && s.PID != first && s.PID != 0
	})
	if s := g.Status()[0]; s.Restarts != 1 || s.Exit != "signal: killed" {
		t.Errorf("status = %+v, want 1 restart and how it ended", s)
	}
}

func TestAProcessThatGoesOnDyingHasFailedAfterThreeRestarts(t *testing.T) {
	g := NewGroup(fast())
	g.Forgive()
	if err := g.Start(spec(t, "die")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has failed", func() bool { _, failed := g.Failed(); return failed })
	s, _ := g.Failed()
	if s.Restarts != 3 || s.Exit != "exit status 7" || s.PID != 0 {
		t.Errorf("status = %+v, want 3 restarts, exit status 7 and no pid", s)
	}
	if got := strings.Join(s.Log, "|"); !strings.HasSuffix(got, "what a pity|goroutine 1:") {
		t.Errorf("log = %q, want the last lines without the stack's frames", got)
	}
}

func TestDeathsLongAgoAreForgotten(t *testing.T) {
	o := fast()
	o.Stable = time.Nanosecond // each run is long enough
	g := NewGroup(o)
	g.Forgive()
	if err := g.Start(spec(t, "die")); err != nil {
		t.Fatal(err)
	}
	defer g.Stop(time.Second)
	log := g.processes[0].spec.Log
	eventually(t, "it runs more often than there are restarts", func() bool {
		data, _ := os.ReadFile(log)
		return strings.Count(string(data), "what a pity") > 5
	})
	if s, failed := g.Failed(); failed {
		t.Errorf("it has failed: %+v", s)
	}
}

func TestWithoutForgivenessADeathIsAFailure(t *testing.T) {
	g := NewGroup(fast())
	if err := g.Start(spec(t, "die")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has failed", func() bool { _, failed := g.Failed(); return failed })
	if s, _ := g.Failed(); s.Restarts != 0 {
		t.Errorf("restarts = %d, want none", s.Restarts)
	}
}

func TestStopEndsAllAndKillsTheStubborn(t *testing.T) {
	g := NewGroup(fast())
	g.Forgive()
	var logs []string
	for _, play := range []string{"sleep", "stubborn"} {
		s := spec(t, play)
		logs = append(logs, s.Log)
		if err := g.Start(s); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "both are up", func() bool {
		return !slices.ContainsFunc(logs, func(l string) bool { return len(Tail(l, 1)) == 0 })
	})
	var pids []int
	for _, s := range g.Status() {
		pids = append(pids, s.PID)
	}
	g.Stop(100 * time.Millisecond)
	for i, s := range g.Status() {
		if s.State != Stopped || alive(pids[i]) {
			t.Errorf("%s: state %s, alive %v; want it stopped", s.Name, s.State, alive(pids[i]))
		}
	}
	if got := g.Status()[1].Exit; got != "signal: killed" {
		t.Errorf("the stubborn one ended with %q, want a kill", got)
	}
	g.Stop(time.Second) // again: nothing to do, and no panic
}

func TestStopWhileItIsBeingRestarted(t *testing.T) {
	g := NewGroup(Options{Backoff: []time.Duration{time.Hour}})
	g.Forgive()
	if err := g.Start(spec(t, "die")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it waits for its restart", func() bool { return g.Status()[0].State == Restarting })
	g.Stop(time.Second)
	if got := g.Status()[0].State; got != Stopped {
		t.Errorf("state = %s, want %s", got, Stopped)
	}
}

func TestStartSaysWhatIsMissing(t *testing.T) {
	g := NewGroup(Options{})
	s := spec(t, "sleep")
	s.Path = filepath.Join(t.TempDir(), "missing")
	if err := g.Start(s); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "start sleep: ") {
		t.Errorf("err = %v, want which program does not exist", err)
	}
	if len(g.Status()) != 0 {
		t.Error("what never started is in the group")
	}
}

// The heart of it: no orphan after kill -9 of the keeper, and the lock tells
// when the last one is gone.
func TestNothingOutlivesAKilledKeeper(t *testing.T) {
	lockFile := filepath.Join(t.TempDir(), "lock")
	keeper := exec.Command(self())
	keeper.Env = []string{"PLAY=keeper", "LOCK=" + lockFile}
	keeper.Stderr = os.Stderr
	out, err := keeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(lockFile); !errors.Is(err, ErrLocked) {
		t.Fatalf("TryLock = %v while the keeper lives, want ErrLocked", err)
	}
	if err := keeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = keeper.Wait()
	eventually(t, "the lock is free", func() bool { locked, err := Locked(lockFile); return err == nil && !locked })
	// The kernel frees it as the last step of the child's end, or nearly so.
	eventually(t, "the child is gone", func() bool { return !alive(child) || zombie(child) })
}

// zombie reports whether a process is dead and only not yet reaped, which in a
// container without an init may never happen.
func zombie(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func TestALockIsHeldByWhoeverInheritedIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self())
	child.Env = []string{"PLAY=holder"}
	child.ExtraFiles = []*os.File{lock.File()}
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if locked, err := Locked(path); err != nil || !locked {
		t.Errorf("Locked = %v, %v; want it held by the child", locked, err)
	}
	_ = in.Close()
	_ = child.Wait()
	if locked, err := Locked(path); err != nil || locked {
		t.Errorf("Locked = %v, %v; want it free", locked, err)
	}
}

func TestAGateHoldsBackUntilItIsOpen(t *testing.T) {
	gate, err := NewGate()
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	start := func() Spec {
		s := spec(t, "gated")
		s.Inherit = []*os.File{gate.File()}
		if err := NewGroup(Options{}).Start(s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	has := func(s Spec, want string) func() bool {
		return func() bool { return slices.Contains(Tail(s.Log, 9), want) }
	}
	early := start()
	eventually(t, "it is at the gate", has(early, "here"))
	if has(early, "through")() {
		t.Error("it went through a closed gate")
	}
	gate.Open()
	eventually(t, "it is through", has(early, "through"))
	late := start()
	eventually(t, "a late one finds it open", has(late, "through"))
}

func TestLockedWithoutAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if locked, err := Locked(path); locked || err != nil {
		t.Errorf("Locked = %v, %v; want free", locked, err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("looking made the file")
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	long := strings.Repeat("x", 70<<10)
	for name, c := range map[string]struct {
		content string
		n       int
		want    []string
	}{
		"fewer than asked":     {"a\nb\n", 5, []string{"a", "b"}},
		"more than asked":      {"a\nb\nc\n", 2, []string{"b", "c"}},
		"no newline at end":    {"a\nb", 1, []string{"b"}},
		"empty":                {"", 3, nil},
		"none asked":           {"a\n", 0, nil},
		"longer than it reads": {long + "\nlast\n", 1, []string{"last"}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Tail(path, c.n); !slices.Equal(got, c.want) {
				t.Errorf("Tail = %q, want %q", got, c.want)
			}
		})
	}
	if got := Tail(filepath.Join(t.TempDir(), "none"), 3); got != nil {
		t.Errorf("Tail of no file = %q", got)
	}
}

func TestReadFrom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a\nb\nhal")
	lines, next := ReadFrom(path, 0)
	if !slices.Equal(lines, []string{"a", "b"}) || next != 4 {
		t.Errorf("ReadFrom = %q, %d; want the whole lines", lines, next)
	}
	write("a\nb\nhalf\n")
	if lines, next = ReadFrom(path, next); !slices.Equal(lines, []string{"half"}) || next != 9 {
		t.Errorf("ReadFrom = %q, %d; want the rest", lines, next)
	}
	write("new\n")
	if lines, _ = ReadFrom(path, next); !slices.Equal(lines, []string{"new"}) {
		t.Errorf("ReadFrom = %q of a file begun anew", lines)
	}
}

// wait is longer than any test; an empty select would be a deadlock to the
// runtime.
func wait() { <-time.After(time.Hour) }
