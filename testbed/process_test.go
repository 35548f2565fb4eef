package testbed

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/controllings/controllings/testbed/proxy"
	"github.com/controllings/controllings/todo/channel"
	"github.com/controllings/controllings/todo/guard"
)

// newProcessBed is a bed whose chapter has a cmd/manager.
func newProcessBed(t *testing.T) *Bed {
	t.Helper()
	t.Chdir("testdata/process")
	return New(t)
}

var serving = []string{"-metrics={address:metrics}", "-health={address:health}"}

// unruly is a program that does what it can to outlive its check; see there.
var unruly = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "testbed-unruly-")
	if err != nil {
		return "", err
	}
	if err := guard.RemoveAtEnd(dir); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "unruly")
	return path, build("github.com/controllings/controllings/todo/guard/testdata/unruly", path)
})

func startUnruly(t *testing.T, b *Bed, args ...string) *Process {
	t.Helper()
	path, err := unruly()
	require.NoError(t, err)
	return b.Start(ProcessOptions{Name: "unruly", Path: path, Args: args})
}

// pids waits until so many processes have written themselves down.
func pids(t *testing.T, file string, n int) (all []int) {
	t.Helper()
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(file)
		return strings.Count(string(text), "\n") >= n
	}, Scale(30*time.Second), 5*time.Millisecond)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		require.NoError(t, err)
		all = append(all, pid)
	}
	return all
}

// alive tells whether a process of these tests is there: on a busy machine its
// number may be another's soon.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	args, _ := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	for _, ours := range []string{"unruly", "manager -metrics", "TestPart"} {
		if strings.Contains(string(args), ours) {
			return true
		}
	}
	return false
}

func TestTwoProcesses(t *testing.T) {
	b := newProcessBed(t)
	denied := b.Faults().Add(proxy.Rule{Match: b.Client("b").Match(proxy.Match{Verb: "create"}), Status: 500})
	never := Fail{Expected: "an answer"}
	one := b.Start(ProcessOptions{Name: "a", Args: append([]string{"-once"}, serving...)})
	two := b.Start(ProcessOptions{Name: "b", Args: append([]string{"-once"}, serving...)})
	assert.NotEqual(t, one.PID(), two.PID())
	assert.NotEqual(t, one.Address("health"), two.Address("health"))
	for _, p := range []*Process{one, two} {
		p.WaitReady(30*time.Second, never)
		ok, seen := p.Healthy(b.Context())
		assert.True(t, ok, seen)
		assert.Equal(t, "process "+p.Name()+": GET /healthz   200  ok", seen)
		m, err := p.Scrape(b.Context())
		require.NoError(t, err)
		made, ok := m.Value("made", "kind", "configmap")
		assert.True(t, ok)
		assert.EqualValues(t, 1, made)
	}
	assert.Equal(t, 1, denied.Hits())
	for name, status := range map[string]int{"a": 201, "b": 500} {
		requests := b.Traffic().Requests(proxy.Match{Client: name})
		if assert.Len(t, requests, 1) {
			assert.Equal(t, status, requests[0].Status)
			assert.Equal(t, b.Namespace(), requests[0].Namespace)
		}
	}
	assert.Contains(t, one.Output(), "manager: create: 201 Created\n")
	assert.Contains(t, two.Output(), "manager: create: 500 Internal Server Error\n")

	// One ends, and the other doesn't mind.
	one.Signal(syscall.SIGTERM)
	exit := one.Wait(10*time.Second, never)
	assert.Zero(t, exit.Code)
	assert.Zero(t, exit.Signal)
	assert.Equal(t, "exit code 0", exit.String())
	assert.Positive(t, exit.Elapsed)
	assert.True(t, strings.HasSuffix(one.Output(), "manager: told to end\n"), one.Output())
	ok, seen := one.Ready(b.Context())
	assert.False(t, ok)
	assert.Regexp(t, `^process a: ended after [\d.]+m?s, exit code 0$`, seen)
	ok, seen = two.Ready(b.Context())
	assert.True(t, ok, seen)
	two.Kill()
	exit = two.Wait(10*time.Second, never)
	assert.Equal(t, Exit{Code: -1, Signal: syscall.SIGKILL, Elapsed: exit.Elapsed}, exit)
	assert.Equal(t, "signal: killed", exit.String())
	two.Signal(syscall.SIGTERM) // of no effect

	// The name is free again.
	again := b.Start(ProcessOptions{Name: "a", Args: serving})
	again.WaitReady(30*time.Second, never)
	assert.Equal(t, "a", again.Name())
	require.Len(t, b.allProcesses(), 2)
}

func TestAStarvedProcess(t *testing.T) {
	b := newProcessBed(t)
	p := b.Start(ProcessOptions{Args: serving})
	assert.Equal(t, "manager", p.Name())
	p.WaitReady(30*time.Second, Fail{Expected: "an answer"})
	p.Stop()
	ok, seen := p.Ready(b.Context())
	assert.False(t, ok, seen)
	assert.Equal(t, "process manager: held by SIGSTOP", p.String())
	_, ended := p.Exited()
	assert.False(t, ended)
	p.Cont()
	p.WaitReady(10*time.Second, Fail{Expected: "an answer"})
	assert.Regexp(t, `^process manager: runs for `, p.String())
}

func TestAProcesssSurroundings(t *testing.T) {
	t.Setenv("LAB_SECRET", "s")
	t.Setenv("XDG_CONFIG_HOME", "/nowhere/config")
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	t.Setenv("SOMETHING", "else")
	b := newProcessBed(t)
	path, err := unruly()
	require.NoError(t, err)
	p := b.Start(ProcessOptions{Path: path, Args: []string{"env"}, Env: []string{"SOMETHING=mine", "AT={address:x}", "PORT={port:x}", "PLAIN={x}"}})
	p.Wait(10*time.Second, Fail{Expected: "an end"})
	env := map[string]string{}
	for line := range strings.Lines(p.Output()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		_, twice := env[name]
		assert.False(t, twice, "%s is there twice", name)
		env[name] = value
	}
	assert.Equal(t, b.Client("manager").Kubeconfig(), env["KUBECONFIG"])
	assert.NotEqual(t, b.Kubeconfig(), env["KUBECONFIG"])
	assert.NotEqual(t, os.Getenv("HOME"), env["HOME"])
	assert.DirExists(t, env["HOME"])
	assert.DirExists(t, env["TMPDIR"])
	assert.Equal(t, "mine", env["SOMETHING"])
	assert.Equal(t, p.Address("x"), env["AT"])
	assert.True(t, strings.HasSuffix(env["AT"], ":"+env["PORT"]), env["AT"])
	assert.True(t, strings.HasPrefix(env["AT"], "127.0.0.1:2"), env["AT"])
	assert.Equal(t, "{x}", env["PLAIN"])
	assert.Empty(t, p.Address("y"))
	for _, name := range []string{"LAB_SECRET", "XDG_CONFIG_HOME", "KUBERNETES_SERVICE_HOST", "LAB_KUBECONFIG", "LAB_HOME"} {
		assert.NotContains(t, env, name)
	}
	_, _, err = p.Get(b.Context(), "metrics", "/")
	assert.ErrorContains(t, err, "has no {address:metrics}")
}

func TestAFlood(t *testing.T) {
	b := newProcessBed(t)
	file := filepath.Join(t.TempDir(), "pids")
	p := startUnruly(t, b, "flood", file)
	pids(t, file, 1)
	require.Eventually(t, func() bool { return strings.Contains(p.Output(), "bytes left out") }, Scale(30*time.Second), 5*time.Millisecond)
	p.Kill()
	p.Wait(10*time.Second, Fail{Expected: "an end"})
	assert.Less(t, len(p.Output()), keepHead+keepTail+100)
	assert.Less(t, len(b.processStates()), 3000)
	assert.Contains(t, b.processStates(), "signal: killed, and printed:\n  …\n  flood flood ")
}

// What a check has started is gone with its bed, in whatever way it lived.
func TestNoProcessOutlivesItsBed(t *testing.T) {
	for part, n := range map[string]int{"stubborn": 1, "flood": 1, "setsid": 1, "family": 13} {
		if runtime.GOOS != "linux" && (part == "setsid" || part == "family") {
			continue // out of reach without a subreaper
		}
		file := filepath.Join(t.TempDir(), "pids")
		var all []int
		t.Run(part, func(t *testing.T) {
			p := startUnruly(t, newProcessBed(t), part, file, "2")
			all = append(pids(t, file, n), p.PID())
		})
		for _, pid := range all {
			assert.False(t, alive(pid), "%s: process %d is still there", part, pid)
		}
	}
}

// A bed with a process and a service leaves no goroutine either.
func TestAProcessLeavesNoGoroutine(t *testing.T) {
	_, err := unruly()
	require.NoError(t, err)
	t.Run("first", func(t *testing.T) { newBed(t) }) // opens the admin's connection, which stays
	before := goleak.IgnoreCurrent()
	t.Run("second", func(t *testing.T) {
		b := newProcessBed(t)
		e := b.External()
		startUnruly(t, b, "stubborn", filepath.Join(t.TempDir(), "pids"))
		_, _, err := call(b.Context(), "POST", e.URL()+"/objects/a", "", "")
		require.NoError(t, err)
	})
	goleak.VerifyNone(t, before)
}

func init() {
	for name, part := range map[string]func(t *testing.T){
		"starts a step that is not written": func(t *testing.T) {
			b := newProcessBed2(t)
			p := b.Start(ProcessOptions{Args: append([]string{"-step=9.1"}, serving...)})
			p.WaitReady(30*time.Second, Fail{Expected: "a process that serves"})
			os.Exit(0)
		},
		"starts what doesn't compile": func(t *testing.T) {
			t.Chdir("../broken")
			New(t).Start(ProcessOptions{})
			os.Exit(0)
		},
		"starts what isn't there": func(t *testing.T) {
			newProcessBed2(t).Start(ProcessOptions{})
			os.Exit(0)
		},
		"starts one twice": func(t *testing.T) {
			b := newProcessBed2(t)
			b.Start(ProcessOptions{})
			b.Start(ProcessOptions{})
			os.Exit(0)
		},
		"waits for one that crashed": func(t *testing.T) {
			b := newProcessBed2(t)
			b.Start(ProcessOptions{Name: "a", Args: append([]string{"-exit=7"}, serving...)}).
				WaitReady(time.Hour, Fail{Expected: "a process that serves", See: "README.md#x"})
		},
		"waits for the end in vain": func(t *testing.T) {
			b := newProcessBed2(t)
			p := b.Start(ProcessOptions{Name: "a", Args: serving})
			p.WaitReady(time.Minute, Fail{Expected: "a process that serves"})
			p.Wait(200*time.Millisecond, Fail{Expected: "an end", See: "README.md#x"})
		},
		"runs processes and is killed": func(t *testing.T) {
			b := newProcessBed2(t)
			startUnruly(t, b, "setsid", os.Getenv("PIDS"))
			p := b.Start(ProcessOptions{Args: serving})
			p.WaitReady(time.Minute, Fail{Expected: "a process that serves"})
			fmt.Println(os.Getpid(), p.PID())
			<-b.Context().Done()
		},
		"runs a check and is killed": func(t *testing.T) { // as the runner does
			wire, err := channel.New()
			require.NoError(t, err)
			p, err := guard.Start(guard.Options{
				Path: os.Args[0], Args: []string{"-test.run=^TestPart$"},
				Env:    append(append(os.Environ(), partEnv+"=runs processes and is killed"), wire.Env(guard.FirstInherited)...),
				Output: os.Stdout, Inherit: wire.Files(),
			})
			require.NoError(t, err)
			wire.Started()
			<-p.Ended()
		},
	} {
		parts[name] = part
	}
}

// newProcessBed2 is newProcessBed for a part, which begins in testdata/chapter.
func newProcessBed2(t *testing.T) *Bed {
	t.Helper()
	t.Chdir("../process")
	return New(t)
}

func TestReportsOnProcesses(t *testing.T) {
	for _, tc := range []struct {
		part   string
		events string
		env    string
		says   []string
	}{
		{"starts a step that is not written", "started not_started", "", []string{"process manager: step 9.1 is not written yet"}},
		{"starts what doesn't compile", "started failed", "", []string{"expected   cmd/manager to compile", "undefined: undefined"}},
		{"starts what isn't there", "started error", EnvManager + "=/nowhere/manager", []string{"start process manager: ", "no such file"}},
		{"starts one twice", "started error", "", []string{"process manager is started while it runs"}},
		{"waits for one that crashed", "started failed", "", []string{
			"process a: ended after", "exit code 7, and printed:", "manager: I can't go on"}},
		{"waits for the end in vain", "started failed", "", []string{
			"seen       process a still runs after 200ms", "process a: runs for", "manager: here I am"}},
	} {
		t.Run(tc.part, func(t *testing.T) {
			manager, err := managerOf(t)
			require.NoError(t, err)
			env := tc.env
			if env == "" && tc.part != "starts what doesn't compile" {
				env = EnvManager + "=" + manager // as the runner does
			}
			got, out, exit := play(t, tc.part, env)
			var events []string
			for _, m := range got {
				events = append(events, m.Event)
			}
			assert.Equal(t, tc.events, strings.Join(events, " "))
			assert.NotZero(t, exit)
			for _, s := range tc.says {
				assert.Contains(t, out, s)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
	t.Run("and which step it is", func(t *testing.T) {
		manager, err := managerOf(t)
		require.NoError(t, err)
		got, _, _ := play(t, "starts a step that is not written", EnvManager+"="+manager)
		require.Len(t, got, 2)
		assert.Equal(t, "9.1", got[1].Step)
		assert.Equal(t, "main.go", filepath.Base(got[1].Failure.File))
	})
}

// managerOf builds the program of testdata/process once.
func managerOf(t *testing.T) (string, error) {
	t.Helper()
	here, err := os.Getwd()
	require.NoError(t, err)
	defer func() { require.NoError(t, os.Chdir(here)) }()
	require.NoError(t, os.Chdir("testdata/process"))
	return managerPath()
}

// The check is killed, or the runner, which leaves it to others to kill the check.
// Either way nothing stays.
func TestNoProcessOutlivesAKilledCheck(t *testing.T) {
	manager, err := managerOf(t)
	require.NoError(t, err)
	for how, part := range map[string]string{
		"the check": "runs processes and is killed", "the runner": "runs a check and is killed",
	} {
		t.Run(how, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pids")
			c := exec.Command(os.Args[0], "-test.run=^TestPart$", "-test.count=1")
			c.Dir = filepath.Join("testdata", "chapter")
			c.Env = append(os.Environ(), partEnv+"="+part, EnvManager+"="+manager, "PIDS="+file)
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := c.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, c.Start())
			defer func() {
				if c.ProcessState == nil {
					_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
					_ = c.Wait()
				}
			}()
			var check, process int
			_, err = fmt.Fscan(out, &check, &process)
			require.NoError(t, err)
			all := append(pids(t, file, 1), check, process)

			require.NoError(t, syscall.Kill(-c.Process.Pid, syscall.SIGKILL))
			_ = c.Wait()
			for _, pid := range all {
				assert.Eventually(t, func() bool { return !alive(pid) }, Scale(30*time.Second), 5*time.Millisecond, "process %d is still there", pid)
			}
		})
	}
}

func TestPorts(t *testing.T) {
	seen := map[int]bool{}
	for range 50 {
		port, release, err := reservePort()
		require.NoError(t, err)
		defer release()
		assert.False(t, seen[port], "port %d is given twice", port)
		seen[port] = true
		listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		require.NoError(t, err)
		listener.Close()
	}
}

func TestBounded(t *testing.T) {
	b := guard.Output{Head: keepHead, Tail: keepTail}
	assert.Empty(t, b.String())
	_, _ = b.Write([]byte("begin\n"))
	assert.Equal(t, "begin\n", b.String())
	var whole strings.Builder
	whole.WriteString("begin\n")
	for i := range 50_000 {
		line := fmt.Sprintf("line %d\n", i)
		whole.WriteString(line)
		n, err := b.Write([]byte(line))
		require.NoError(t, err)
		require.Equal(t, len(line), n)
	}
	text, dropped := whole.String(), whole.Len()-keepHead-keepTail
	assert.Equal(t, text[:keepHead]+fmt.Sprintf("\n… %d bytes left out …\n", dropped)+text[len(text)-keepTail:], b.String())

	one := guard.Output{Head: keepHead, Tail: keepTail}
	_, _ = one.Write([]byte(text)) // the same at once
	assert.Equal(t, b.String(), one.String())
}

func TestLastLines(t *testing.T) {
	assert.Empty(t, lastOf(""))
	assert.Empty(t, lastOf("\n\n"))
	assert.Equal(t, []string{"a", "b"}, lastOf("a\r\nb\n"))
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintln(&many, i)
	}
	assert.Equal(t, []string{"…", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29"}, lastOf(many.String()))
	assert.Equal(t, strings.Repeat("é", maxLine)+"…", lastOf(strings.Repeat("é", maxLine+1))[0])
}

func TestMetrics(t *testing.T) {
	m, err := ParseMetrics(`# TYPE reconciles counter
reconciles{controller="a",result="success"} 3
reconciles{controller="a",result="error"} 2
reconciles{controller="b",result="error"} 5
# TYPE depth gauge
depth 7
plain 1.5
# TYPE took histogram
took_bucket{le="0.1"} 4
took_bucket{le="+Inf"} 6
took_sum 2
took_count 6
`)
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		labels []string
		want   float64
		ok     bool
	}{
		"reconciles": {[]string{"result", "error"}, 7, true},
		"depth":      {nil, 7, true},
		"plain":      {nil, 1.5, true},
		"took":       {nil, 6, true},
		"missing":    {nil, 0, false},
	} {
		got, ok := m.Value(name, tc.labels...)
		assert.Equal(t, tc.ok, ok, name)
		assert.InDelta(t, tc.want, got, 0, name)
	}
	_, ok := m.Value("reconciles", "controller", "c")
	assert.False(t, ok)
	_, err = ParseMetrics("<html>")
	assert.Error(t, err)
	odd := []string{"x"} // not as a literal, which the linter would find
	assert.Panics(t, func() { m.Value("depth", odd...) })
}
