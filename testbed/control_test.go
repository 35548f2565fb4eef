package testbed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/controllings/controllings/todo/channel"
)

func init() {
	for name, part := range map[string]func(t *testing.T){
		"needs control": func(t *testing.T) { New(t).Control() },
		"needs control and fails in a clean-up": func(t *testing.T) {
			b := New(t)
			t.Cleanup(func() { t.Error("left something behind") })
			b.Control()
		},
		"controls": func(t *testing.T) {
			b := New(t)
			c := b.Control()
			c.Restart(b.Context(), APIServer)
			c.Kill(b.Context(), Kwok)
			c.Compact(b.Context())
			fmt.Println(c.AddNodes(b.Context(), 2))
			c.RemoveNodes(b.Context())
			c.Stop(b.Context(), APIServer)
			assert.Same(t, c, b.Control())
			assert.Empty(t, os.Getenv("LAB_CONTROL"))
		},
		"controls, and panics": func(t *testing.T) {
			b := New(t)
			b.Control().Stop(b.Context(), APIServer)
			panic("learner")
		},
		"controls in vain": func(t *testing.T) {
			b := New(t)
			b.Control().Restart(b.Context(), Etcd)
		},
		// The API server is away on purpose, so what is missing is the learner's.
		"stops the API server and waits in vain": func(t *testing.T) {
			b := New(t)
			b.Control().Stop(b.Context(), APIServer)
			cutOff(t, b)()
			b.Eventually(100*time.Millisecond, Fail{Expected: "unready", See: "README.md#x"}, func(context.Context) (bool, string) {
				return false, "ready all the same"
			})
		},
		"stops the API server and stays": func(t *testing.T) {
			b := New(t)
			b.Control().Stop(b.Context(), APIServer)
			cutOff(t, b)()
			b.Stays(100*time.Millisecond, Fail{Expected: "calm"}, func(context.Context) (bool, string) { return true, "" })
		},
		"has the API server stopped by somebody else": func(t *testing.T) {
			b := New(t)
			c := b.Control()
			c.Stop(b.Context(), APIServer)
			c.note(APIServer, false)
			c.note(Etcd, true)
			b.Stays(100*time.Millisecond, Fail{Expected: "calm"}, func(context.Context) (bool, string) { return true, "" })
		},
	} {
		parts[name] = part
	}
}

func TestWithoutControlACheckIsSkipped(t *testing.T) {
	got, _, exit := play(t, "needs control", "LAB_CONTROL=")
	assert.Zero(t, exit)
	require.Len(t, got, 2)
	assert.Equal(t, channel.Skipped, got[1].Event)
	require.NotNil(t, got[1].Failure, "a skip without words")
	assert.Contains(t, got[1].Failure.Message, "make chapter-N")

	// What fails all the same has failed.
	got, _, exit = play(t, "needs control and fails in a clean-up", "LAB_CONTROL=")
	assert.NotZero(t, exit)
	require.Len(t, got, 2)
	assert.Equal(t, channel.Failed, got[1].Event)
}

func TestControl(t *testing.T) {
	const stop, restore = "POST /v1/components/kube-apiserver/stop", "POST /v1/restore"
	for _, tc := range []struct {
		part, event, says string
		fail              bool
		calls             []string
	}{
		{part: "controls", event: channel.Passed, says: "[node-3 node-4]", calls: []string{
			"POST /v1/components/kube-apiserver/restart", "POST /v1/components/kwok/kill", "POST /v1/compact",
			"POST /v1/nodes by check", "DELETE /v1/nodes?by=check", stop, restore,
		}},
		{part: "controls, and panics", event: channel.Failed, says: "panic: learner", calls: []string{stop, restore}},
		{part: "controls in vain", event: channel.Error, fail: true, says: "restart etcd: etcd is stopped (start it first)",
			calls: []string{"POST /v1/components/etcd/restart", restore}},
		{part: "stops the API server and waits in vain", event: channel.Failed, says: "ready all the same",
			calls: []string{stop, "GET /v1/components", restore}},
		{part: "stops the API server and stays", event: channel.Passed,
			calls: []string{stop, "GET /v1/components", "GET /v1/components", restore}},
		{part: "has the API server stopped by somebody else", event: channel.Error, says: "sign of life: kube-apiserver is stopped",
			calls: []string{stop, "GET /v1/components", restore}},
	} {
		t.Run(tc.part, func(t *testing.T) {
			f := newFakeControl(t)
			f.fail = tc.fail
			got, out, exit := play(t, tc.part, "LAB_CONTROL="+f.file)
			require.Len(t, got, 2, out)
			assert.Equal(t, tc.event, got[1].Event, out)
			assert.Equal(t, tc.event == channel.Passed, exit == 0)
			assert.Contains(t, out, tc.says)
			assert.Equal(t, tc.calls, f.seen())
			assert.NotContains(t, out, "word")
		})
	}
}

// realControl is the control file of the cluster that the tests run on.
func realControl(t *testing.T) string {
	t.Helper()
	kubeconfig, err := findKubeconfig()
	require.NoError(t, err)
	file := filepath.Join(filepath.Dir(kubeconfig), "clusters", "embedded", "control")
	if _, err := os.Stat(file); err != nil {
		t.Skip("this cluster can't be controlled")
	}
	return file
}

// TestControlForReal is a check that restarts the API server under its own bed.
func TestControlForReal(t *testing.T) {
	t.Setenv("LAB_CONTROL", realControl(t))
	got, out, exit := play(t, "restarts the API server")
	require.Len(t, got, 2, out)
	assert.Equal(t, channel.Passed, got[1].Event, out)
	assert.Zero(t, exit)
}

func init() {
	parts["restarts the API server"] = func(t *testing.T) {
		b := New(t)
		ctx, c := b.Context(), b.Control()
		maps := b.Clientset().CoreV1().ConfigMaps(b.Namespace())
		_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		watching, err := maps.Watch(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		defer watching.Stop()

		c.Restart(ctx, APIServer)
		// Without a new client: its port, and the proxy's, are the same.
		_, err = maps.Get(ctx, "kept", metav1.GetOptions{})
		require.NoError(t, err)
		b.Eventually(10*time.Second, Fail{Expected: "the end of the watch"}, func(context.Context) (bool, string) {
			select {
			case _, open := <-watching.ResultChan():
				return !open, "an event"
			default:
				return false, "it goes on"
			}
		})

		c.Stop(ctx, APIServer)
		_, err = maps.Get(ctx, "kept", metav1.GetOptions{})
		require.True(t, apierrors.IsServiceUnavailable(err), "%v", err)
		b.Stays(200*time.Millisecond, Fail{Expected: "no panic"}, func(context.Context) (bool, string) { return true, "" })
		c.Start(ctx, APIServer)
		_, err = maps.Get(ctx, "kept", metav1.GetOptions{})
		require.NoError(t, err)

		c.Kill(ctx, APIServer)
		b.Stays(200*time.Millisecond, Fail{Expected: "a restart by itself"}, func(context.Context) (bool, string) { return true, "" })
		c.Stop(ctx, APIServer) // the bed's clean-up has to start it
	}
}
