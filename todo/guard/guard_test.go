package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// partEnv makes this test binary play a process that asks for a guard and is
// then killed: it names the part of unruly.
const partEnv = "GUARD_TEST_PART"

var unruly string // the program's path

func TestMain(m *testing.M) {
	if part := os.Getenv(partEnv); part != "" {
		play(part)
		return
	}
	os.Exit(withUnruly(m))
}

func withUnruly(m *testing.M) int {
	dir, err := os.MkdirTemp("", "guard-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	unruly = filepath.Join(dir, "unruly")
	if out, err := exec.Command("go", "build", "-o", unruly, "./testdata/unruly").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		return 1
	}
	return m.Run()
}

// play runs unruly under guard, says so, and waits to be killed.
func play(part string) {
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	if err := RemoveAtEnd(os.Args[3]); err != nil {
		panic(err)
	}
	p, err := Start(Options{Path: os.Args[1], Args: []string{part, os.Args[2], "2"}, Env: os.Environ(), Output: out, Remove: os.Args[4]})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.PID())
	<-p.Ended()
	<-time.After(time.Hour)
}

func start(t *testing.T, o Options) (*Process, func() string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o.Path, o.Output = unruly, w
	p, err := Start(o)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	read := make(chan string, 1)
	go func() {
		defer r.Close()
		var out bytes.Buffer
		_, _ = io.Copy(&out, io.LimitReader(r, 1<<20))
		_, _ = io.Copy(io.Discard, r)
		read <- out.String()
	}()
	return p, func() string { return <-read }
}

// eventually polls for at most 20 seconds.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(2 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatalf("%s: not within 20 seconds", what)
}

// running waits until so many processes have written themselves down.
func running(t *testing.T, file string, n int) (pids []int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d processes in %s", n, file), func() bool {
		text, _ := os.ReadFile(file)
		if strings.Count(string(text), "\n") < n {
			return false
		}
		pids = nil
		for _, field := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		return true
	})
	return pids
}

// alive tells whether the process is there. On a busy machine its number may be
// another's soon, so what it runs is asked for too.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	args, _ := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return strings.Contains(string(args), "unruly")
}

func ended(t *testing.T, p *Process) Exit {
	t.Helper()
	select {
	case <-p.Ended():
	case <-time.After(20 * time.Second):
		t.Fatal("still running after 20 seconds")
	}
	exit, ok := p.Exit()
	if !ok {
		t.Fatal("nobody knows how it ended")
	}
	return exit
}

func TestExit(t *testing.T) {
	for _, code := range []int{0, 1, 77} {
		p, out := start(t, Options{Args: []string{"exit", strconv.Itoa(code)}})
		exit := ended(t, p)
		if exit.Code != code || exit.Signal != 0 || exit.Elapsed <= 0 || exit.Elapsed > 20*time.Second {
			t.Errorf("exit %d: %+v", code, exit)
		}
		if s := out(); s != "" {
			t.Errorf("output %q", s)
		}
		if err := p.Signal(syscall.SIGTERM); !errors.Is(err, ErrEnded) {
			t.Errorf("a signal to a process that has ended: %v", err)
		}
	}
}

func TestSurroundings(t *testing.T) {
	p, out := start(t, Options{Args: []string{"env"}, Env: []string{"A=0", "B=x y", "A=1"}})
	ended(t, p)
	if s := out(); s != "A=1\nB=x y\n" {
		t.Errorf("environment %q", s)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, out = start(t, Options{Args: []string{"dir"}, Dir: dir})
	ended(t, p)
	if s := out(); s != dir+" <nil>\n" {
		t.Errorf("folder %q, want %q", s, dir)
	}
}

func TestNoProgram(t *testing.T) {
	for name, path := range map[string]string{"missing": "/nowhere/program", "a folder": t.TempDir()} {
		if p, err := Start(Options{Path: path}); err == nil {
			p.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSignals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	p, out := start(t, Options{Args: []string{"wait", file}})
	pid := running(t, file, 1)[0]
	if pid != p.PID() {
		t.Errorf("PID() is %d, the program says %d", p.PID(), pid)
	}
	// Stopped, it doesn't answer; it does as soon as it goes on. To stop it again
	// changes nothing.
	for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGSTOP, syscall.SIGTERM} {
		if err := p.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-p.Ended():
		t.Fatal("a stopped process ended")
	case <-time.After(50 * time.Millisecond):
	}
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if exit := ended(t, p); exit.Code != 0 || exit.Signal != 0 {
		t.Errorf("%+v", exit)
	}
	if s := out(); s != "told to end\n" {
		t.Errorf("output %q", s)
	}
}

// A stopped program prints nothing more: it has stopped when Signal returns.
func TestStop(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := Start(Options{Path: unruly, Args: []string{"flood", filepath.Join(t.TempDir(), "pids")}, Output: w})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	buf := make([]byte, 1<<20)
	for range 20 {
		if _, err := r.Read(buf); err != nil {
			t.Fatal(err)
		}
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		// A pipe holds no more than buf: this empties it.
		if err := r.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, got := 0, 0
		for ; err == nil; got, err = r.Read(buf) {
			n += got
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || n > 64<<10 {
			t.Fatalf("%d bytes came from a stopped program, and then %v", n, err)
		}
		err = r.SetReadDeadline(time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if exit := ended(t, p); exit.Signal != syscall.SIGKILL {
		t.Errorf("%+v", exit)
	}
}

// A program finds the signals as they are by default, not as the guard has them.
func TestSignalsEndAPlainProgram(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL} {
		file := filepath.Join(t.TempDir(), "pids")
		p, _ := start(t, Options{Args: []string{"plain", file}})
		running(t, file, 1)
		if err := p.Signal(s); err != nil {
			t.Fatal(err)
		}
		if exit := ended(t, p); exit.Signal != s || exit.Code != -1 {
			t.Errorf("%v: %+v", s, exit)
		}
	}
}

// Whatever a program does, it and what it left are gone when Close returns.
func TestClose(t *testing.T) {
	for part, n := range map[string]int{"stubborn": 1, "flood": 1, "setsid": 1, "daemon": 1, "family": 13} {
		if escapes(part) {
			continue
		}
		t.Run(part, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pids")
			p, _ := start(t, Options{Args: []string{part, file, "2"}})
			if part == "daemon" {
				// The first process ends by itself: that's the end for all.
				if exit := ended(t, p); exit.Code != 0 {
					t.Errorf("%+v", exit)
				}
				n = 0 // they may have been killed before they were ready
			}
			pids := running(t, file, n)
			p.Close()
			p.Close()
			for _, pid := range append(pids, p.PID()) {
				if alive(pid) {
					t.Errorf("process %d is still there", pid)
				}
			}
			if _, ok := p.Exit(); !ok {
				t.Error("nobody knows how it ended")
			}
		})
	}
}

// kill -9 of the one who asked for the guard ends everything too.
func TestTheParentIsKilled(t *testing.T) {
	for part, n := range map[string]int{"wait": 1, "stubborn": 1, "flood": 1, "setsid": 1, "family": 13} {
		if escapes(part) {
			continue
		}
		t.Run(part, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "pids")
			// Of a guard that is there for a folder alone, and of the program's.
			removed := []string{filepath.Join(dir, "alone"), filepath.Join(dir, "along")}
			for _, dir := range removed {
				if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			c := exec.Command(os.Args[0], append([]string{unruly, file}, removed...)...)
			c.Env = append(os.Environ(), partEnv+"="+part)
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			c.Stderr = os.Stderr
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var pid int
			if _, err := fmt.Fscan(out, &pid); err != nil {
				t.Fatal(err)
			}
			pids := append(running(t, file, n), pid)
			for _, dir := range removed {
				if _, err := os.Stat(dir); err != nil {
					t.Errorf("removed too early: %v", err)
				}
			}
			if err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL); err != nil { // as the runner does
				t.Fatal(err)
			}
			_ = c.Wait()
			for _, pid := range pids {
				eventually(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !alive(pid) })
			}
			for _, dir := range removed {
				eventually(t, "the end of "+dir, func() bool {
					_, err := os.Stat(dir)
					return errors.Is(err, os.ErrNotExist)
				})
			}
		})
	}
}

// escapes reports whether a part is out of reach where there is no subreaper.
func escapes(part string) bool {
	return runtime.GOOS != "linux" && (part == "setsid" || part == "daemon" || part == "family")
}
