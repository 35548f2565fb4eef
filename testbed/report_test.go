package testbed

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/controllings/controllings/todo"
	"github.com/controllings/controllings/todo/channel"
)

// partEnv makes TestPart play a check; without it, TestPart is nothing.
const partEnv = "TESTBED_TEST_PART"

// parts are checks that end in every way a check can end.
var parts = map[string]func(t *testing.T){
	"passes": func(t *testing.T) { New(t) },
	"passes with two beds": func(t *testing.T) {
		New(t)
		New(t)
	},
	"fails": func(t *testing.T) {
		b := New(t)
		_, err := b.Clientset().CoreV1().Secrets(b.Namespace()).List(b.Context(), metav1.ListOptions{Limit: 5})
		b.NoError(err, Fail{Expected: "the Secrets\nof the namespace", See: "README.md#rbac"})
		os.Exit(0)
	},
	"fails by an assertion": func(t *testing.T) {
		New(t)
		require.Equal(t, 1, 2)
	},
	"skips": func(t *testing.T) {
		New(t)
		t.Skip("no need")
	},
	"panics": func(t *testing.T) {
		New(t)
		panic("learner")
	},
	"skips and panics": func(t *testing.T) {
		New(t)
		defer func() { panic("learner") }()
		t.Skip("no need")
	},
	"panics in another goroutine": func(t *testing.T) {
		New(t)
		go panic("learner")
		select {}
	},
	"panics in a clean-up": func(t *testing.T) {
		New(t)
		t.Cleanup(func() { panic("learner") })
	},
	"fails in a clean-up": func(t *testing.T) {
		New(t)
		t.Cleanup(func() { t.Error("left something behind") })
	},
	"exits": func(t *testing.T) {
		New(t)
		os.Exit(0)
	},
	"ends its goroutine": func(t *testing.T) {
		New(t)
		runtime.Goexit()
	},
	"is not written": func(t *testing.T) {
		New(t)
		func() { panic(todo.Step("9.1")) }()
	},
	"never makes a bed": func(*testing.T) {},
	"makes a bed in a subtest only": func(t *testing.T) {
		t.Run("sub", func(t *testing.T) { New(t) })
	},
	"fails on another goroutine": func(t *testing.T) {
		b := New(t)
		go func() {
			b.Fail(Fail{Expected: "nothing", Seen: "something", See: "README.md#x"})
			os.Exit(0)
		}()
		b.Eventually(time.Minute, Fail{Expected: "never"}, func(context.Context) (bool, string) { return false, "waiting" })
		os.Exit(0)
	},
	"waits in vain": func(t *testing.T) {
		b := New(t)
		n := 0
		b.Eventually(300*time.Millisecond, Fail{Expected: "5", See: "README.md#x"}, func(context.Context) (bool, string) {
			n++
			return false, "saw " + map[bool]string{true: "the first", false: "a later one"}[n == 1]
		})
	},
	"doesn't stay": func(t *testing.T) {
		b := New(t)
		n := 0
		b.Stays(time.Minute, Fail{Expected: "quiet", See: "README.md#x"}, func(context.Context) (bool, string) {
			n++
			return n < 4, "noise"
		})
	},
	"can't be set up": func(t *testing.T) {
		New(t).Must(errors.New("no room"), "make a thing")
	},
	"loses the cluster and stays": func(t *testing.T) {
		b := New(t)
		cut := cutOff(t, b)
		b.Stays(200*time.Millisecond, Fail{Expected: "quiet"}, func(context.Context) (bool, string) {
			cut()
			return true, "nothing"
		})
	},
	"loses the cluster and waits": func(t *testing.T) {
		b := New(t)
		cutOff(t, b)()
		b.Eventually(100*time.Millisecond, Fail{Expected: "x"}, func(context.Context) (bool, string) {
			return false, "nothing"
		})
	},
	"never ends": func(t *testing.T) {
		b := New(t)
		client := b.Clientset()
		for {
			_, _ = client.CoreV1().Secrets(b.Namespace()).List(b.Context(), metav1.ListOptions{})
		}
	},
	"is parallel": func(t *testing.T) {
		t.Parallel()
		New(t)
	},
}

// cutOff returns a function after which the admin's client finds a dead server.
func cutOff(t *testing.T, b *Bed) func() {
	t.Helper()
	return func() {
		dead := rest.CopyConfig(b.admin)
		dead.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("cut off") }
		transport, err := rest.TransportFor(dead)
		require.NoError(t, err)
		c := b.clients.CoreV1().RESTClient().(*rest.RESTClient)
		c.Client = &http.Client{Transport: transport}
	}
}

func TestPart(t *testing.T) {
	if part := os.Getenv(partEnv); part != "" {
		parts[part](t)
	}
}

// play runs a part as the runner would, and returns the reports, the output and
// the exit code.
func play(t *testing.T, part string, env ...string) ([]channel.Message, string, int) {
	t.Helper()
	timeout := "2m"
	switch part {
	case "never ends":
		timeout = Scale(5 * time.Second).String()
	case "restarts the API server":
		timeout = Scale(5 * time.Minute).String()
	}
	c := exec.Command(os.Args[0], "-test.run=^TestPart$", "-test.count=1", "-test.timeout="+timeout)
	c.Dir = filepath.Join("testdata", "chapter")
	w, err := channel.New()
	require.NoError(t, err)
	defer w.Close()
	c.Env = append(append(os.Environ(), w.Env(3)...), partEnv+"="+part)
	c.Env = append(c.Env, env...)
	c.ExtraFiles = w.Files()
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	require.NoError(t, c.Start())
	w.Started()
	got, err := w.Read(1 << 20)
	require.NoError(t, err)
	_ = c.Wait()
	return got, out.String(), c.ProcessState.ExitCode()
}

func TestReports(t *testing.T) {
	for _, tc := range []struct {
		part   string
		events string
		ok     bool // exit code 0
		says   string
	}{
		{"passes", "started passed", true, ""},
		{"passes with two beds", "started passed", true, ""},
		{"fails", "started failed", false, "seen       error: secrets is forbidden"},
		{"fails by an assertion", "started failed", false, "Not equal"},
		{"skips", "started skipped", true, ""},
		{"panics", "started failed", false, "panic: learner"},
		{"skips and panics", "started failed", false, "panic: learner"},
		{"panics in another goroutine", "started", false, "panic: learner"},
		{"panics in a clean-up", "started failed", false, "panic: learner"},
		{"fails in a clean-up", "started failed", false, "left something behind"},
		{"exits", "started", true, ""}, // so the exit code alone proves nothing
		{"ends its goroutine", "started failed", false, ""},
		{"is not written", "started not_started", false, "step 9.1 is not written yet"},
		{"never makes a bed", "", true, ""},
		{"makes a bed in a subtest only", "started/sub passed/sub", true, ""},
		{"fails on another goroutine", "started failed", false, "seen       something"},
		{"waits in vain", "started failed", false, "seen       after " + Scale(300*time.Millisecond).String() + ": saw a later one"},
		{"doesn't stay", "started failed", false, "of " + Scale(time.Minute).String() + ": noise"},
		{"can't be set up", "started error", false, "make a thing: no room"},
		{"loses the cluster and stays", "started error", false, "sign of life"},
		{"loses the cluster and waits", "started error", false, "sign of life"},
		{"is parallel", "started error", false, "a check can't be parallel"},
	} {
		t.Run(tc.part, func(t *testing.T) {
			got, out, exit := play(t, tc.part)
			var events []string
			for _, m := range got {
				events = append(events, m.Event+strings.TrimPrefix(m.Test, "TestPart"))
			}
			assert.Equal(t, tc.events, strings.Join(events, " "))
			assert.Equal(t, tc.ok, exit == 0, "exit code %d", exit)
			assert.Contains(t, out, tc.says)
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

func TestWhatAFailureTells(t *testing.T) {
	got, out, _ := play(t, "fails")
	require.Len(t, got, 2)
	f := got[1].Failure
	require.NotNil(t, f)
	assert.Equal(t, "the Secrets\nof the namespace", f.Expected)
	assert.Equal(t, "README.md#rbac", f.See)
	seen := strings.Split(f.Seen, "\n")
	require.Len(t, seen, 2, f.Seen)
	assert.Regexp(t, `^error: secrets is forbidden: User "system:serviceaccount:bed-\w{5}:learner" cannot list`, seen[0])
	assert.Regexp(t, `^GET /api/v1/namespaces/bed-\w{5}/secrets\?limit=5   403  \d+ B$`, seen[1])
	assert.Regexp(t, `(?m)^expected   the Secrets\n           of the namespace\nseen       error: .*\n           GET .*\nwhere      README.md#rbac$`, f.Message)
	for line := range strings.Lines(f.Message) {
		assert.Contains(t, out, strings.TrimSpace(line), "the test's own output tells the same")
	}
}

func TestWhatATestTellsThatNeverEnds(t *testing.T) {
	got, _, exit := play(t, "never ends")
	assert.NotZero(t, exit)
	require.Len(t, got, 2)
	require.Equal(t, channel.Failed, got[1].Event)
	assert.Regexp(t, `^it was still running after [\d.m]+s\n`, got[1].Failure.Seen)
	assert.Regexp(t, `GET /api/v1/namespaces/bed-\w{5}/secrets   403  \d+ B   ×\d+`, got[1].Failure.Seen)
}

func TestNoCluster(t *testing.T) {
	const first = "no cluster: run make cluster-up\n"
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed.Close()
	dead := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(dead, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"x",
		"clusters":[{"name":"x","cluster":{"server":"http://`+closed.Addr().String()+`"}}],
		"contexts":[{"name":"x","context":{"cluster":"x"}}]}`), 0o600))
	for name, env := range map[string]string{
		"no file":   "LAB_KUBECONFIG=/nowhere/kubeconfig",
		"no answer": "LAB_KUBECONFIG=" + dead,
	} {
		t.Run(name, func(t *testing.T) {
			got, out, exit := play(t, "passes", env)
			assert.NotZero(t, exit)
			assert.Contains(t, out, first)
			require.Len(t, got, 2)
			assert.Equal(t, channel.Error, got[1].Event)
			assert.True(t, strings.HasPrefix(got[1].Failure.Message, first), got[1].Failure.Message)
		})
	}
}
