package proxy

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

var contentTypes = []string{"application/json", "application/vnd.kubernetes.protobuf;stream=watch", "application/cbor-seq"}

// encodings are those of a real client or server, with all types.
func encodings(t testing.TB, contentType string) runtime.SerializerInfo {
	t.Helper()
	types := serializer.NewCodecFactory(scheme.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo)).SupportedMediaTypes()
	mediaType := map[string]string{contentTypes[0]: "application/json", contentTypes[1]: "application/vnd.kubernetes.protobuf", contentTypes[2]: "application/cbor"}[contentType]
	info, ok := runtime.SerializerInfoForMediaType(types, mediaType)
	require.True(t, ok)
	return info
}

// encode writes an event as the API server does.
func encode(t testing.TB, contentType string, kind watch.EventType, name string) []byte {
	t.Helper()
	info := encodings(t, contentType)
	var object, out bytes.Buffer
	cm := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", ResourceVersion: "7"},
		Data:       map[string]string{"lines": "a\nb\r\n\"}{\x00"},
	}
	require.NoError(t, info.Serializer.Encode(cm, &object))
	event := &metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: object.Bytes()}}
	require.NoError(t, streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(&out), info.StreamSerializer.Serializer).Encode(event))
	return out.Bytes()
}

// decode reads a watch as client-go does.
func decode(t testing.TB, contentType string, wire []byte) []watch.Event {
	t.Helper()
	info := encodings(t, contentType)
	events := streaming.NewDecoder(info.StreamSerializer.NewFrameReader(io.NopCloser(bytes.NewReader(wire))), info.StreamSerializer.Serializer)
	decoder := restwatch.NewDecoder(events, serializer.NewCodecFactory(scheme.Scheme).UniversalDeserializer())
	if contentType == contentTypes[2] {
		decoder = restwatch.NewDecoder(events, info.Serializer)
	}
	var all []watch.Event
	for {
		kind, object, err := decoder.Decode()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return all
		}
		all = append(all, watch.Event{Type: kind, Object: object})
	}
}

func TestFrames(t *testing.T) {
	for _, contentType := range contentTypes {
		t.Run(contentType, func(t *testing.T) {
			f := framingOf(contentType)
			require.NotNil(t, f)
			want := [][]byte{
				encode(t, contentType, watch.Added, "a"), encode(t, contentType, watch.Bookmark, ""),
				encode(t, contentType, watch.Modified, "a"), encode(t, contentType, watch.Deleted, "a"),
			}
			wire := bytes.Join(want, nil)
			for name, in := range map[string]io.Reader{
				"whole": bytes.NewReader(wire), "by the byte": iotest.OneByteReader(bytes.NewReader(wire)),
				"halves": iotest.HalfReader(bytes.NewReader(wire)), "end with data": iotest.DataErrReader(bytes.NewReader(wire)),
			} {
				next := f.reader(in)
				for i := range want {
					got, err := next()
					require.NoError(t, err, "%s %d", name, i)
					assert.Equal(t, want[i], got, "%s: not a byte may differ", name)
					assert.Equal(t, i == 1, f.isBookmark(got))
				}
				got, err := next()
				assert.Equal(t, io.EOF, err)
				assert.Empty(t, got)
			}
			assert.Len(t, decode(t, contentType, wire), 4, "the control: these are events")
		})
	}
}

func TestAFrameThatBreaksOff(t *testing.T) {
	for _, contentType := range contentTypes {
		whole := encode(t, contentType, watch.Added, "a")
		next := framingOf(contentType).reader(io.MultiReader(bytes.NewReader(whole), bytes.NewReader(whole[:len(whole)-1]), iotest.ErrReader(io.ErrNoProgress)))
		got, err := next()
		require.NoError(t, err, contentType)
		assert.Equal(t, whole, got)
		_, err = next()
		assert.ErrorIs(t, err, io.ErrNoProgress, contentType)
	}
	next := framingOf(contentTypes[1]).reader(bytes.NewReader([]byte{0, 0, 0, 9, 1}))
	got, err := next()
	assert.Equal(t, []byte{0, 0, 0, 9, 1}, got)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	next = framingOf(contentTypes[1]).reader(bytes.NewReader([]byte{0xff, 0, 0, 0, 1}))
	_, err = next()
	require.ErrorContains(t, err, "4278190080 bytes")
}

func TestFailureIsInTheWatchsOwnEncoding(t *testing.T) {
	for _, contentType := range contentTypes {
		t.Run(contentType, func(t *testing.T) {
			wire, err := framingOf(contentType).failure(Rule{Expire: true, Message: "gone \"with\"\nthe wind"}.expired())
			require.NoError(t, err)
			before, after := encode(t, contentType, watch.Added, "a"), encode(t, contentType, watch.Deleted, "a")
			events := decode(t, contentType, bytes.Join([][]byte{before, wire, after}, nil))
			require.Len(t, events, 3)
			assert.Equal(t, watch.Error, events[1].Type)
			status, ok := events[1].Object.(*metav1.Status)
			require.True(t, ok, "%T", events[1].Object)
			status.TypeMeta = metav1.TypeMeta{}
			assert.Equal(t, &metav1.Status{Status: "Failure", Code: 410, Reason: "Expired", Message: "gone \"with\"\nthe wind"}, status)
		})
	}
	_, err := framingOf("text/plain").failure(Rule{}.expired())
	require.ErrorContains(t, err, "doesn't know")
	assert.Nil(t, framingOf("a/b/c"))
}
