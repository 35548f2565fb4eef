package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// world is a proxy, with a server behind it that plays the API server.
type world struct {
	*Proxy
	token  string
	client *http.Client // trusts the proxy; speaks HTTP/2
}

func newWorld(t *testing.T, api http.HandlerFunc) *world {
	t.Helper()
	// client-go keeps a transport for each CA it has met, and its connections'
	// goroutines until they find out that the server is gone.
	t.Cleanup(func() { goleak.VerifyNone(t) })
	server := httptest.NewUnstartedServer(api)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})

	p, err := Start(Options{
		Upstream: &rest.Config{Host: server.URL, BearerToken: "admin-token", UserAgent: "never-seen", TLSClientConfig: rest.TLSClientConfig{CAData: ca}},
		As:       rest.ImpersonationConfig{UserName: "system:serviceaccount:ns:learner", Groups: []string{"g1", "g2"}},
	})
	require.NoError(t, err)
	t.Cleanup(p.Close)

	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(p.Config().CAData))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &world{p, p.Config().BearerToken, &http.Client{Transport: transport}}
}

// request makes one with the right token, which h may replace.
func (w *world) request(t *testing.T, method, uri string, body io.Reader, h http.Header) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.Config().Host+uri, body)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+w.token)
	for k, v := range h {
		r.Header[k] = v
	}
	return r
}

func (w *world) do(t *testing.T, method, uri string, body io.Reader, h http.Header) (*http.Response, []byte) {
	t.Helper()
	res, err := w.client.Do(w.request(t, method, uri, body, h))
	require.NoError(t, err)
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, got
}

func status(t *testing.T, body []byte) metav1.Status {
	t.Helper()
	var s metav1.Status
	require.NoError(t, json.Unmarshal(body, &s), "%s", body)
	assert.Equal(t, "Status", s.Kind)
	assert.Equal(t, "v1", s.APIVersion)
	assert.Equal(t, metav1.StatusFailure, s.Status)
	return s
}

func TestIdentity(t *testing.T) {
	var mu sync.Mutex
	var seen http.Header
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = r.Header.Clone()
	})
	res, _ := w.do(t, "GET", "/api/v1/pods", nil, http.Header{
		"Impersonate-User":         {"system:admin"},
		"Impersonate-Group":        {"system:masters"},
		"Impersonate-Uid":          {"1"},
		"Impersonate-Extra-Scopes": {"all"},
		"X-Remote-User":            {"system:admin"},
		"X-Remote-Group":           {"system:masters"},
		"Accept-Encoding":          {"gzip"},
		"Accept":                   {"application/x"},
		"User-Agent":               {"my-controller/v1"},
		CallerHeader:               {"/x/clientset.go:41"},
	})
	assert.Equal(t, 200, res.StatusCode)
	assert.Equal(t, 2, res.ProtoMajor, "HTTP/2 to the proxy")
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, "Bearer admin-token", seen.Get("Authorization"))
	assert.Equal(t, []string{"system:serviceaccount:ns:learner"}, seen["Impersonate-User"])
	assert.Equal(t, []string{"g1", "g2"}, seen["Impersonate-Group"])
	for _, name := range []string{"Impersonate-Uid", "Impersonate-Extra-Scopes", "X-Remote-User", "X-Remote-Group", "Accept-Encoding", "X-Forwarded-For", CallerHeader} {
		assert.NotContains(t, seen, name)
	}
	assert.Equal(t, "my-controller/v1", seen.Get("User-Agent"))
	assert.Equal(t, "application/x", seen.Get("Accept"))
	assert.Equal(t, "/x/clientset.go:41", w.Traffic().Requests(Match{})[0].Caller)
}

// A client may name headers that a proxy must take out. The proxy's own must
// not be among them.
func TestIdentityIsNoHopByHopHeader(t *testing.T) {
	var mu sync.Mutex
	var user string
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		user = r.Header.Get("Impersonate-User")
	})
	one := w.client.Transport.(*http.Transport).Clone() // by HTTP/1.1: HTTP/2 has no such header
	one.ForceAttemptHTTP2, one.Protocols = false, new(http.Protocols)
	one.Protocols.SetHTTP1(true)
	one.TLSClientConfig.NextProtos = nil
	defer one.CloseIdleConnections()
	res, err := (&http.Client{Transport: one}).Do(w.request(t, "GET", "/api/v1/pods", nil, http.Header{"Connection": {"Impersonate-User, Authorization"}}))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, 1, res.ProtoMajor)
	assert.Equal(t, 200, res.StatusCode)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, "system:serviceaccount:ns:learner", user)
}

func TestWithoutTheToken(t *testing.T) {
	w := newWorld(t, func(http.ResponseWriter, *http.Request) { t.Error("a request got through") })
	for name, value := range map[string][]string{
		"none": nil, "empty": {""}, "another": {"Bearer x"}, "basic": {"Basic eDp5"},
		"longer": {"Bearer " + w.token + "x"}, "bare": {w.token},
	} {
		t.Run(name, func(t *testing.T) {
			res, body := w.do(t, "GET", "/api/v1/pods", nil, http.Header{"Authorization": value})
			assert.Equal(t, 401, res.StatusCode)
			s := status(t, body)
			assert.Equal(t, metav1.StatusReasonUnauthorized, s.Reason)
			assert.NotContains(t, string(body), w.token)
		})
	}
	assert.Len(t, w.Traffic().Requests(Match{Verb: "list"}), 6, "refused requests are in the record too")

	c := w.Config()
	c.BearerToken = "wrong"
	_, err := kubernetes.NewForConfigOrDie(c).CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsUnauthorized(err), "client-go sees: %v", err)
	// Each bed has a certificate of its own.
	c.CAData = nil
	_, err = kubernetes.NewForConfigOrDie(c).CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
	assert.ErrorContains(t, err, "certificate")
}

func TestUpgradeIsRefused(t *testing.T) {
	w := newWorld(t, func(http.ResponseWriter, *http.Request) { t.Error("a request got through") })
	// HTTP/2 has no upgrade, and a client that wants one speaks HTTP/1.1.
	one := w.client.Transport.(*http.Transport).Clone()
	one.ForceAttemptHTTP2, one.Protocols = false, new(http.Protocols)
	one.Protocols.SetHTTP1(true)
	one.TLSClientConfig.NextProtos = nil
	defer one.CloseIdleConnections()
	res, err := (&http.Client{Transport: one}).Do(w.request(t, "POST", "/api/v1/namespaces/ns/pods/p/exec", nil,
		http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}))
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Equal(t, 501, res.StatusCode)
	assert.Contains(t, status(t, body).Message, "exec, attach and port-forward")
}

func TestRecord(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == "POST" {
			w.WriteHeader(201)
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 1234))
	})
	before := time.Now()
	w.do(t, "POST", "/apis/apps/v1/namespaces/ns/deployments?fieldManager=me", strings.NewReader(`{"a":1}`),
		http.Header{"Content-Type": {"application/json"}, "User-Agent": {"me/1"}})
	mark := w.Traffic().Mark()
	w.do(t, "GET", "/api/v1/namespaces/ns/pods?limit=5&limit=6", nil, nil)

	all := w.Traffic().Requests(Match{})
	require.Len(t, all, 2)
	r := all[0]
	assert.WithinDuration(t, before, r.Start, time.Minute)
	assert.Positive(t, r.Duration)
	r.Start, r.Duration = time.Time{}, 0
	assert.Equal(t, Request{
		Verb: "create", Group: "apps", Version: "v1", Resource: "deployments", Namespace: "ns",
		Method: "POST", Path: "/apis/apps/v1/namespaces/ns/deployments", Query: url.Values{"fieldManager": {"me"}},
		UserAgent: "me/1", ContentType: "application/json", Body: []byte(`{"a":1}`),
		Done: true, Status: 201, Bytes: 1234,
	}, r)
	assert.Equal(t, []string{"5", "6"}, all[1].Query["limit"])

	assert.Equal(t, 1, w.Traffic().Count(Match{Verb: "create"}))
	since := w.Traffic().Since(mark)
	assert.Equal(t, 0, since.Count(Match{Verb: "create"}))
	assert.Equal(t, 1, since.Count(Match{}))
	assert.Equal(t, "list", since.Requests(Match{})[0].Verb)
	w.do(t, "GET", "/version", nil, nil)
	assert.Equal(t, 2, since.Count(Match{}), "a window grows")

	// What is handed out is a copy.
	all[0].Body[0], all[0].Query["fieldManager"][0] = 'X', "X"
	again := w.Traffic().Requests(Match{})[0]
	assert.Equal(t, `{"a":1}`, string(again.Body))
	assert.Equal(t, "me", again.Query.Get("fieldManager"))
}

func TestBodiesAreBounded(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(w, n)
	})
	for _, n := range []int{maxBody, maxBody + 1, 3 << 20} {
		_, body := w.do(t, "PUT", "/api/v1/namespaces/ns/configmaps/c", bytes.NewReader(make([]byte, n)), nil)
		assert.Equal(t, fmt.Sprint(n), string(body), "all of it goes through")
		all := w.Traffic().Requests(Match{})
		last := all[len(all)-1]
		assert.Len(t, last.Body, maxBody)
		assert.Equal(t, n > maxBody, last.BodyCut)
	}
}

func TestWatchGoesOnAtOnce(t *testing.T) {
	events := make(chan string)
	gone := make(chan struct{})
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for {
			select {
			case e := <-events:
				_, _ = io.WriteString(w, e+"\n")
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	res, err := w.client.Do(w.request(t, "GET", "/api/v1/pods?watch=true", nil, nil).WithContext(ctx))
	require.NoError(t, err) // the headers came, though there is no event yet
	defer res.Body.Close()

	open := w.Traffic().Requests(Match{Verb: "watch"})
	require.Len(t, open, 1, "an open watch is in the record")
	assert.False(t, open[0].Done)
	assert.Equal(t, 200, open[0].Status)

	in := bufio.NewReader(res.Body)
	for i := range 20 {
		want := fmt.Sprint("event ", i)
		start := time.Now()
		events <- want
		got, err := in.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, want+"\n", got)
		assert.Less(t, time.Since(start), time.Second, "an event must not wait for the next")
	}
	assert.EqualValues(t, 10*len("event 0\n")+10*len("event 10\n"), w.Traffic().Requests(Match{})[0].Bytes)

	cancel()
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Fatal("an aborted watch goes on at the API server")
	}
	require.Eventually(t, func() bool { return w.Traffic().Requests(Match{})[0].Done }, 10*time.Second, time.Millisecond)
	assert.Equal(t, byClient, w.Traffic().Requests(Match{})[0].Err)
}

func TestCloseEndsWatches(t *testing.T) {
	gone := make(chan struct{})
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	res, err := w.client.Do(w.request(t, "GET", "/api/v1/pods?watch=true", nil, nil))
	require.NoError(t, err)
	defer res.Body.Close()
	w.Close()
	w.Close() // once more is nothing
	_, err = io.ReadAll(res.Body)
	require.Error(t, err)
	<-gone
	assert.True(t, w.Traffic().Requests(Match{})[0].Done)
	_, err = w.client.Do(w.request(t, "GET", "/api/v1/pods", nil, nil))
	require.Error(t, err)
}

// A part must never pass for the whole.
func TestABrokenAnswerStaysBroken(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 5000))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	res, err := w.client.Do(w.request(t, "GET", "/api/v1/pods", nil, nil))
	require.NoError(t, err)
	defer res.Body.Close()
	_, err = io.ReadAll(res.Body)
	require.Error(t, err)
	require.Eventually(t, func() bool { return w.Traffic().Requests(Match{})[0].Done }, 10*time.Second, time.Millisecond)
	assert.Equal(t, "cut off by the API server", w.Traffic().Requests(Match{})[0].Err)
}

func TestADeadServer(t *testing.T) {
	w := newWorld(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	res, body := w.do(t, "GET", "/api/v1/pods", nil, nil)
	assert.Equal(t, 503, res.StatusCode)
	assert.Equal(t, metav1.StatusReasonServiceUnavailable, status(t, body).Reason)
	r := w.Traffic().Requests(Match{})[0]
	assert.Equal(t, 503, r.Status)
	assert.NotEmpty(t, r.Err)
}

func TestProtobufPassesUnharmed(t *testing.T) {
	var mu sync.Mutex
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", Annotations: map[string]string{"bytes": strings.Repeat("\x00ÿ", 1000)}},
	}
	codec := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	var raw bytes.Buffer
	require.NoError(t, codec.Encode(pod, &raw))
	var sent []byte
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sent, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		_, _ = w.Write(raw.Bytes())
	})
	pods := kubernetes.NewForConfigOrDie(w.Config()).CoreV1().Pods("ns")
	got, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, pod.Annotations, got.Annotations)

	r := w.Traffic().Requests(Match{Verb: "create", Resource: "pods"})[0]
	assert.Equal(t, runtime.ContentTypeProtobuf, r.ContentType)
	assert.EqualValues(t, raw.Len(), r.Bytes)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, sent, r.Body)
	back, _, err := codec.Decode(r.Body, nil, nil)
	require.NoError(t, err)
	assert.Equal(t, pod.Annotations, back.(*corev1.Pod).Annotations)
}

func TestOddPaths(t *testing.T) {
	var mu sync.Mutex
	var seen string
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = r.RequestURI
	})
	for _, uri := range []string{"/api/v1/namespaces/ns/services/a%2Fb/proxy/x%20y?q=a+b&c=%2F;d", "/", "/apis/"} {
		w.do(t, "GET", uri, nil, nil)
		mu.Lock()
		want := uri
		if i := strings.Index(uri, ";"); i > 0 {
			want = "/api/v1/namespaces/ns/services/a%2Fb/proxy/x%20y?q=a+b"
		}
		assert.Equal(t, want, strings.TrimSuffix(seen, "&c=%2F%3Bd"))
		mu.Unlock()
	}
}

func TestManyAtOnce(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		_, _ = w.Write(b)
	})
	w.Faults().Add(Rule{Match: Match{Verb: "update"}, Status: 409, Times: 50})
	stop := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				for _, r := range w.Traffic().Requests(Match{Verb: Write}) {
					_ = r.String() + string(r.Body)
				}
			}
		}
	})
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			body := strings.Repeat(fmt.Sprint(i%10), 10_000)
			res, err := w.client.Do(w.request(t, "PUT", "/api/v1/namespaces/ns/configmaps/c", strings.NewReader(body), nil))
			if !assert.NoError(t, err) {
				return
			}
			defer res.Body.Close()
			got, err := io.ReadAll(res.Body)
			assert.NoError(t, err)
			if res.StatusCode == 200 {
				assert.Equal(t, body, string(got))
			}
		})
	}
	wg.Wait()
	close(stop)
	looking.Wait()
	var ok, conflict int
	for _, r := range w.Traffic().Requests(Match{}) {
		assert.True(t, r.Done, "who has read the answer finds it in the record")
		switch r.Status {
		case 200:
			ok++
			assert.EqualValues(t, 10_000, r.Bytes)
			assert.Len(t, r.Body, 10_000)
		case 409:
			conflict++
		}
	}
	assert.Equal(t, 50, ok)
	assert.Equal(t, 50, conflict)
}
