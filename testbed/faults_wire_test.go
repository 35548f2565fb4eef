package testbed

import (
	"io"
	"net/http"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Without a rule a watch has the very bytes that the API server sends, in each of
// its forms.
func TestWatchesPassUnchanged(t *testing.T) {
	b := newBed(t)
	maps := b.Admin().CoreV1().ConfigMaps(b.Namespace())
	first, err := maps.Create(b.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "first"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	for _, text := range []string{"a\nb", "\"}{\\", "\u2028é\x00"} {
		b.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}, Data: map[string]string{"text": text}})
	}
	require.NoError(t, maps.Delete(b.Context(), "first", metav1.DeleteOptions{}))

	// A table has a column with the object's age, which may change meanwhile.
	age := regexp.MustCompile(`"\d+m?s"\]`)
	read := func(c *rest.Config, accept string) (contentType string, body []byte) {
		client, err := rest.HTTPClientFor(c)
		if !assert.NoError(t, err) {
			return
		}
		r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, c.Host+"/api/v1/namespaces/"+b.Namespace()+
			"/configmaps?watch=1&timeoutSeconds=2&fieldSelector=metadata.name!=kube-root-ca.crt&resourceVersion="+first.ResourceVersion, nil)
		if !assert.NoError(t, err) {
			return
		}
		r.Header.Set("Accept", accept)
		res, err := client.Do(r)
		if !assert.NoError(t, err) {
			return
		}
		defer res.Body.Close()
		body, err = io.ReadAll(res.Body)
		assert.NoError(t, err)
		assert.Equal(t, http.StatusOK, res.StatusCode)
		return res.Header.Get("Content-Type"), age.ReplaceAll(body, []byte(`"…"]`))
	}
	// Nothing is open: until their time is up, each watch takes two seconds.
	var all sync.WaitGroup
	for _, accept := range []string{
		"application/json",
		"application/json;stream=watch",
		"application/vnd.kubernetes.protobuf",
		"application/vnd.kubernetes.protobuf;stream=watch",
		"application/json;as=Table;v=v1;g=meta.k8s.io",
		"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
	} {
		all.Go(func() {
			var straight, through struct {
				contentType string
				body        []byte
			}
			var both sync.WaitGroup
			both.Go(func() { straight.contentType, straight.body = read(b.AdminConfig(), accept) })
			both.Go(func() { through.contentType, through.body = read(b.Config(), accept) })
			both.Wait()
			assert.NotEmpty(t, straight.body, accept)
			assert.Equal(t, straight.contentType, through.contentType, accept)
			assert.Equal(t, straight.body, through.body, accept)
		})
	}
	all.Wait()
}
