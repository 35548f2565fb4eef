package supervise

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sleeper is a group with one process that runs.
func sleeper(t *testing.T, o Options, play string) *Group {
	t.Helper()
	g := NewGroup(o)
	g.Forgive()
	if err := g.Start(spec(t, play)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Stop(time.Second) })
	return g
}

func TestWhatWasStoppedStaysSoUntilItIsResumed(t *testing.T) {
	g := sleeper(t, fast(), "sleep")
	first := g.Status()[0].PID
	g.Stop(time.Second, "sleep")
	if s := g.Status()[0]; s.State != Stopped || s.PID != 0 || alive(first) {
		t.Fatalf("status = %+v, want it stopped", s)
	}
	if err := g.Resume("sleep"); err != nil {
		t.Fatal(err)
	}
	s := g.Status()[0]
	if s.State != Running || s.PID == first || !alive(s.PID) || s.Restarts != 0 {
		t.Errorf("status = %+v, want another process and no restart", s)
	}
	var state *NotInStateError
	if err := g.Resume("sleep"); !errors.As(err, &state) || state.State != Running {
		t.Errorf("resume what runs: %v", err)
	}
	if err := g.Resume("nobody"); !errors.As(err, &state) {
		t.Errorf("resume nobody: %v", err)
	}
}

// A stop and a resume, again and again, is nobody's crash.
func TestAskedForRestartsUseUpNothing(t *testing.T) {
	g := sleeper(t, fast(), "sleep")
	for range 10 {
		g.Stop(time.Second, "sleep")
		if err := g.Resume("sleep"); err != nil {
			t.Fatal(err)
		}
	}
	if s := g.Status()[0]; s.State != Running || s.Restarts != 0 {
		t.Errorf("status = %+v", s)
	}
}

func TestWhatIsKilledOnRequestComesBackEachTime(t *testing.T) {
	g := sleeper(t, fast(), "sleep")
	for n := 1; n <= 10; n++ {
		before := g.Status()[0].PID
		if err := g.Kill("sleep"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "another one runs", func() bool {
			s := g.Status()[0]
			return s.State == Running && s.PID != before && s.Restarts == n
		})
	}
	if s := g.Status()[0]; s.Exit != "signal: killed" {
		t.Errorf("exit = %q", s.Exit)
	}
	// Its own deaths count as ever.
	for n := range 4 {
		before := g.Status()[0].PID
		if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is dealt with", func() bool {
			s := g.Status()[0]
			return s.State == Failed && n == 3 || s.State == Running && s.PID != before && n < 3
		})
	}
	var state *NotInStateError
	if err := g.Kill("sleep"); !errors.As(err, &state) || state.State != Failed {
		t.Errorf("kill what has failed: %v", err)
	}
	if err := g.Kill("nobody"); !errors.As(err, &state) {
		t.Errorf("kill nobody: %v", err)
	}
}

func TestWhatHasFailedCanBeResumed(t *testing.T) {
	g := sleeper(t, fast(), "die")
	for round := range 2 {
		eventually(t, "it has failed", func() bool { return g.Status()[0].State == Failed })
		if s := g.Status()[0]; s.Restarts != 3 {
			t.Errorf("round %d: restarts = %d: its earlier deaths count", round, s.Restarts)
		}
		if err := g.Resume("die"); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "it has failed", func() bool { return g.Status()[0].State == Failed })
	g.Stop(time.Second, "die")
	if s := g.Status()[0]; s.State != Stopped || s.Log != nil {
		t.Errorf("status = %+v, want it stopped, as asked", s)
	}
}

func TestAfterTheEndNothingIsResumed(t *testing.T) {
	g := sleeper(t, fast(), "sleep")
	g.Stop(time.Second)
	if err := g.Resume("sleep"); !errors.Is(err, ErrClosed) {
		t.Errorf("err = %v, want ErrClosed", err)
	}
	if s := g.Status()[0]; s.State != Stopped {
		t.Errorf("status = %+v", s)
	}
}

func TestResumeSaysWhatIsMissing(t *testing.T) {
	g := sleeper(t, fast(), "sleep")
	g.Stop(time.Second, "sleep")
	g.processes[0].spec.Path = "/nowhere/at/all"
	if err := g.Resume("sleep"); err == nil || !strings.HasPrefix(err.Error(), "start sleep: ") {
		t.Errorf("err = %v", err)
	}
	if s := g.Status()[0]; s.State != Stopped {
		t.Errorf("status = %+v, want it as it was", s)
	}
}
