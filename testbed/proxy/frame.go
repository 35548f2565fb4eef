package proxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/watch"
)

// framing is how the events of a watch follow each other on the wire. A frame is
// an event with what sets it apart from the next one.
type framing struct {
	runtime.SerializerInfo
	// reader returns a function that reads one frame after the other, byte by
	// byte as it is on the wire. Beside an error it returns the part of a frame
	// that came before it.
	reader func(io.Reader) func() ([]byte, error)
	// head is the length of what stands before the event.
	head int
}

// maxFrame bounds a frame, in bytes. etcd takes 1.5 MB for an object; this is for
// a stream that is none.
const maxFrame = 64 << 20

// framings are those in which the API server writes watches (serveWatchHandler in
// apiserver's endpoints/handlers/watch.go), by the media type of the answer.
var framings = func() map[string]*framing {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // has Status and WatchEvent
	types := serializer.NewCodecFactory(scheme, serializer.WithSerializer(cbor.NewSerializerInfo)).SupportedMediaTypes()
	info := func(mediaType string) runtime.SerializerInfo {
		info, ok := runtime.SerializerInfoForMediaType(types, mediaType)
		if !ok || info.StreamSerializer == nil {
			panic("proxy: apimachinery writes no watches in " + mediaType)
		}
		return info
	}
	return map[string]*framing{
		runtime.ContentTypeJSON:         {info(runtime.ContentTypeJSON), lines, 0},
		runtime.ContentTypeProtobuf:     {info(runtime.ContentTypeProtobuf), lengthDelimited, 4},
		runtime.ContentTypeCBORSequence: {info(runtime.ContentTypeCBOR), cborSequence, 0},
	}
}()

// framingOf returns nil for an answer whose events can't be told apart.
func framingOf(contentType string) *framing {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil
	}
	return framings[mediaType]
}

// lines reads JSON: its encoder ends each event with a line feed, and writes none
// inside.
func lines(r io.Reader) func() ([]byte, error) {
	in := bufio.NewReader(r)
	return func() ([]byte, error) { return in.ReadBytes('\n') }
}

// lengthDelimited reads events with their length in front, in four bytes
// (NewLengthDelimitedFrameReader in apimachinery's util/framer).
func lengthDelimited(r io.Reader) func() ([]byte, error) {
	in := bufio.NewReader(r)
	return func() ([]byte, error) {
		frame := make([]byte, 4)
		if n, err := io.ReadFull(in, frame); err != nil {
			return frame[:n], err
		}
		length := binary.BigEndian.Uint32(frame)
		if length > maxFrame {
			return frame, fmt.Errorf("an event of %d bytes in a watch", length)
		}
		frame = append(frame, make([]byte, length)...)
		n, err := io.ReadFull(in, frame[4:])
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return frame[:4+n], err
	}
}

// cborTag is what the API server begins each CBOR item with, to say that it is
// one. The library's reader leaves it away.
var cborTag = []byte{0xd9, 0xd9, 0xf7}

// cborSequence reads items that know their own length.
func cborSequence(r io.Reader) func() ([]byte, error) {
	in := cbor.NewFramer().NewFrameReader(io.NopCloser(r))
	buf := make([]byte, 16<<10)
	return func() ([]byte, error) {
		frame := slices.Clone(cborTag)
		for {
			n, err := in.Read(buf)
			frame = append(frame, buf[:n]...)
			switch {
			case errors.Is(err, io.ErrShortBuffer): // there is more of it
			case err != nil:
				return nil, err
			default:
				return frame, nil
			}
		}
	}
}

// chunks reads what can't be told apart.
func chunks(r io.Reader) func() ([]byte, error) {
	return func() ([]byte, error) {
		buf := make([]byte, 4<<10)
		n, err := r.Read(buf)
		return buf[:n], err
	}
}

// isBookmark reports whether a frame is no event of an object, but only tells how
// far the watch is.
func (f *framing) isBookmark(frame []byte) bool {
	if f == nil || len(frame) < f.head {
		return false
	}
	event := &metav1.WatchEvent{}
	_, _, err := f.StreamSerializer.Decode(frame[f.head:], nil, event)
	return err == nil && event.Type == string(watch.Bookmark)
}

// failure makes the frame of an event of type ERROR.
func (f *framing) failure(s *metav1.Status) ([]byte, error) {
	if f == nil {
		return nil, errors.New("a watch in a form that the testbed's proxy doesn't know")
	}
	var object, frame bytes.Buffer
	if err := f.Serializer.Encode(s, &object); err != nil {
		return nil, fmt.Errorf("encode a status: %w", err)
	}
	event := &metav1.WatchEvent{Type: string(watch.Error), Object: runtime.RawExtension{Raw: object.Bytes()}}
	if err := f.StreamSerializer.Encode(event, f.StreamSerializer.NewFrameWriter(&frame)); err != nil {
		return nil, fmt.Errorf("encode a watch event: %w", err)
	}
	return frame.Bytes(), nil
}
