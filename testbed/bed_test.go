package testbed

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/controllings/controllings/testbed/proxy"
)

// These tests need a cluster, and fail with "no cluster: run make cluster-up"
// where none is up. Their config/rbac.yaml is that of testdata/chapter.
func newBed(t *testing.T) *Bed {
	t.Helper()
	t.Chdir("testdata/chapter")
	return New(t)
}

func TestTypedClient(t *testing.T) {
	b := newBed(t)
	ctx, maps := b.Context(), b.Clientset().CoreV1().ConfigMaps(b.Namespace())

	watching, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "a=b"})
	require.NoError(t, err)
	defer watching.Stop()
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{"a": "b"}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	select {
	case e := <-watching.ResultChan():
		assert.Equal(t, watch.Added, e.Type)
		assert.Equal(t, made.UID, e.Object.(*corev1.ConfigMap).UID)
	case <-time.After(Scale(10 * time.Second)):
		t.Fatal("no event came")
	}
	made.Data = map[string]string{"k": "v"}
	made, err = maps.Update(ctx, made, metav1.UpdateOptions{})
	require.NoError(t, err)
	list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "a=b", Limit: 10})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, made.Data, list.Items[0].Data)
	require.NoError(t, maps.Delete(ctx, "c", metav1.DeleteOptions{}))
	_, err = maps.Get(ctx, "c", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)

	var verbs []string
	for _, r := range b.Traffic().Requests(proxy.Match{Group: proxy.None, Resource: "configmaps", Namespace: b.Namespace()}) {
		verbs = append(verbs, r.Verb)
		assert.NotEmpty(t, r.UserAgent)
	}
	assert.Equal(t, []string{"watch", "create", "update", "list", "delete", "get"}, verbs)
	assert.Equal(t, 1, b.Traffic().Count(proxy.Match{Verb: "list", Query: map[string]string{"labelSelector": "a=b", "limit": "10"}}))
	assert.Equal(t, 404, b.Traffic().Requests(proxy.Match{Verb: "get"})[0].Status)
	assert.Equal(t, 201, b.Traffic().Requests(proxy.Match{Verb: "create"})[0].Status)

	// Whoever else works on the cluster is not in the record.
	_, err = b.Admin().CoreV1().ConfigMaps(b.Namespace()).List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, 1, b.Traffic().Count(proxy.Match{Verb: "list"}))
}

func TestStreamingListGoesThrough(t *testing.T) {
	b := newBed(t)
	b.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "before"}})
	factory := informers.NewSharedInformerFactoryWithOptions(b.Clientset(), 0, informers.WithNamespace(b.Namespace()))
	lister := factory.Core().V1().ConfigMaps().Lister()
	ctx, cancel := context.WithTimeout(b.Context(), Scale(20*time.Second))
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	defer cancel()
	require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())
	_, err := lister.ConfigMaps(b.Namespace()).Get("before")
	require.NoError(t, err)

	b.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "after"}})
	b.Eventually(10*time.Second, Fail{Expected: "the new ConfigMap in the cache"}, func(context.Context) (bool, string) {
		_, err := lister.ConfigMaps(b.Namespace()).Get("after")
		return err == nil, "not there"
	})
	streamed := proxy.Match{Verb: "watch", Resource: "configmaps", Query: map[string]string{"sendInitialEvents": "true"}}
	assert.Equal(t, 1, b.Traffic().Count(streamed), "the initial list is a stream")
	assert.Equal(t, 0, b.Traffic().Count(proxy.Match{Verb: "list"}))
	assert.False(t, b.Traffic().Requests(streamed)[0].Done)
}

func TestLearnersRights(t *testing.T) {
	b := newBed(t)
	ctx, c := b.Context(), b.Clientset()
	_, err := c.CoreV1().Pods(b.Namespace()).List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	for what, err := range map[string]error{
		"secrets here":           listErr(c.CoreV1().Secrets(b.Namespace()).List(ctx, metav1.ListOptions{})),
		"pods in another place":  listErr(c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})),
		"pods of all namespaces": listErr(c.CoreV1().Pods("").List(ctx, metav1.ListOptions{})),
		"nodes":                  listErr(c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})),
		"its namespace":          c.CoreV1().Namespaces().Delete(ctx, b.Namespace(), metav1.DeleteOptions{}),
	} {
		assert.True(t, apierrors.IsForbidden(err), "%s: %v", what, err)
		assert.ErrorContains(t, err, "system:serviceaccount:"+b.Namespace()+":learner", what)
	}
	// To pretend to be somebody else is no way out.
	cfg := b.Config()
	cfg.Impersonate.UserName, cfg.Impersonate.Groups = "root", []string{"system:masters"}
	_, err = kubernetes.NewForConfigOrDie(cfg).CoreV1().Secrets(b.Namespace()).List(ctx, metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.Equal(t, 403, b.Traffic().Requests(proxy.Match{Resource: "secrets"})[0].Status)
}

func listErr[T any](_ T, err error) error { return err }

func TestKubeconfig(t *testing.T) {
	b := newBed(t)
	path := b.Kubeconfig()
	assert.Equal(t, path, b.Kubeconfig())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, nil)
	ns, _, err := loading.Namespace()
	require.NoError(t, err)
	assert.Equal(t, b.Namespace(), ns)
	cfg, err := loading.ClientConfig()
	require.NoError(t, err)
	_, err = kubernetes.NewForConfigOrDie(cfg).CoreV1().Pods(ns).List(b.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, 1, b.Traffic().Count(proxy.Match{Verb: "list", Resource: "pods"}))
}

func TestOtherClustersAreOutOfReach(t *testing.T) {
	home := os.Getenv("HOME")
	t.Setenv("KUBECONFIG", "/somewhere/else")
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	t.Run("in a check", func(t *testing.T) {
		newBed(t)
		assert.NotEqual(t, home, os.Getenv("HOME"))
		for _, name := range []string{"KUBECONFIG", "LAB_KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"} {
			_, ok := os.LookupEnv(name)
			assert.False(t, ok, name)
		}
	})
	assert.Equal(t, home, os.Getenv("HOME"))
	assert.Equal(t, "/somewhere/else", os.Getenv("KUBECONFIG"))
}

func TestFaultsMeetTheLearnerOnly(t *testing.T) {
	b := newBed(t)
	for i := range 5 {
		b.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-", Labels: map[string]string{"n": string(rune('0' + i))}}})
	}
	maps := b.Clientset().CoreV1().ConfigMaps(b.Namespace())
	h := b.Faults().Add(proxy.Rule{Match: proxy.Match{Verb: "list", Query: map[string]string{"continue": ""}}, Status: 410, Times: 1})
	first, err := maps.List(b.Context(), metav1.ListOptions{Limit: 2})
	require.NoError(t, err)
	require.NotEmpty(t, first.Continue)
	next := metav1.ListOptions{Limit: 2, Continue: first.Continue}
	_, err = b.Admin().CoreV1().ConfigMaps(b.Namespace()).List(b.Context(), next)
	require.NoError(t, err)
	_, err = maps.List(b.Context(), next)
	assert.True(t, apierrors.IsResourceExpired(err), "%v", err)
	var expired apierrors.APIStatus
	require.ErrorAs(t, err, &expired)
	second, err := maps.List(b.Context(), next)
	require.NoError(t, err)
	require.NotEmpty(t, second.Items)
	assert.Equal(t, 1, h.Hits())

	// The token that the 410 brought goes on at the same key, in what is there now.
	require.NoError(t, b.Admin().CoreV1().ConfigMaps(b.Namespace()).Delete(b.Context(), second.Items[0].Name, metav1.DeleteOptions{}))
	now, err := maps.List(b.Context(), metav1.ListOptions{Limit: 2, Continue: expired.Status().Continue})
	require.NoError(t, err)
	require.NotEmpty(t, now.Items)
	assert.Equal(t, second.Items[1].Name, now.Items[0].Name)
}

func TestForeignActor(t *testing.T) {
	b := newBed(t)
	cm, err := b.Foreign().CoreV1().ConfigMaps(b.Namespace()).Create(b.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"k": "v"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, cm.ManagedFields)
	assert.Equal(t, "foreign-actor", cm.ManagedFields[0].Manager)
	assert.Equal(t, 0, b.Traffic().Count(proxy.Match{}))
}

func TestPodsRun(t *testing.T) {
	b := newBed(t)
	pods := b.CreatePods(3, map[string]string{"app": "web"})
	require.Len(t, pods, 3)
	for _, p := range pods {
		assert.NotEmpty(t, p.UID)
	}
	b.Eventually(30*time.Second, Fail{Expected: "3 running Pods"}, func(ctx context.Context) (bool, string) {
		list, err := b.Admin().CoreV1().Pods(b.Namespace()).List(ctx, metav1.ListOptions{LabelSelector: "app=web", FieldSelector: "status.phase=Running"})
		if err != nil {
			return false, err.Error()
		}
		return len(list.Items) == 3, string(rune('0'+len(list.Items))) + " running Pods"
	})
}

func TestTwoBeds(t *testing.T) {
	t.Chdir("testdata/chapter")
	one, two := New(t), New(t)
	assert.NotEqual(t, one.Namespace(), two.Namespace())
	_, err := one.Clientset().CoreV1().Pods(two.Namespace()).List(one.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	_, err = two.Clientset().CoreV1().Pods(two.Namespace()).List(two.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, 1, one.Traffic().Count(proxy.Match{}))
	assert.Equal(t, 1, two.Traffic().Count(proxy.Match{}))
}
