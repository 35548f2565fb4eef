package guard

import (
	"fmt"
	"sync"
)

// Output keeps the first Head and the last Tail bytes of what a program prints, and
// counts the rest.
type Output struct {
	Head, Tail int

	mu      sync.Mutex
	head    []byte
	tail    []byte // a ring once it is full
	next    int
	dropped int64
}

// Write implements io.Writer; it never fails.
func (b *Output) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	if room := b.Head - len(b.head); room > 0 {
		k := min(room, len(p))
		b.head = append(b.head, p[:k]...)
		p = p[k:]
	}
	if skip := len(p) - b.Tail; skip > 0 {
		b.dropped += int64(skip)
		p = p[skip:]
	}
	if room := b.Tail - len(b.tail); room > 0 {
		k := min(room, len(p))
		b.tail = append(b.tail, p[:k]...)
		p = p[k:]
	}
	b.dropped += int64(len(p))
	for len(p) > 0 {
		k := copy(b.tail[b.next:], p)
		b.next = (b.next + k) % b.Tail
		p = p[k:]
	}
	return n, nil
}

// String is what was kept, with a line where something was left out.
func (b *Output) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	gap := ""
	if b.dropped > 0 {
		gap = fmt.Sprintf("\n… %d bytes left out …\n", b.dropped)
	}
	return string(b.head) + gap + string(b.tail[b.next:]) + string(b.tail[:b.next])
}
