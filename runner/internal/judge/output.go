package judge

import (
	"fmt"
	"sync"
)

const (
	keepHead = 64 << 10  // what a process says first
	keepTail = 192 << 10 // and last: a trace stands at the end
)

// bounded keeps the head and the tail of what is written to it, and counts the
// rest.
type bounded struct {
	mu      sync.Mutex
	head    []byte
	tail    []byte // a ring once it is full
	next    int
	dropped int64
}

func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	if room := keepHead - len(b.head); room > 0 {
		k := min(room, len(p))
		b.head = append(b.head, p[:k]...)
		p = p[k:]
	}
	if skip := len(p) - keepTail; skip > 0 {
		b.dropped += int64(skip)
		p = p[skip:]
	}
	if room := keepTail - len(b.tail); room > 0 {
		k := min(room, len(p))
		b.tail = append(b.tail, p[:k]...)
		p = p[k:]
	}
	b.dropped += int64(len(p))
	for len(p) > 0 {
		k := copy(b.tail[b.next:], p)
		b.next = (b.next + k) % keepTail
		p = p[k:]
	}
	return n, nil
}

func (b *bounded) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	gap := ""
	if b.dropped > 0 {
		gap = fmt.Sprintf("\n… %d bytes left out …\n", b.dropped)
	}
	return string(b.head) + gap + string(b.tail[b.next:]) + string(b.tail[:b.next])
}
