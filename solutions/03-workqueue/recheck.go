package sharing

import (
	"time"
)

// Recheck has the key looked at again when the first of its requests ends, after
// now: an end that is past was seen by whoever looked just now, and a request
// without an end is nothing to wait for. If there is no such end, Recheck does
// nothing. It is no failure, and counts as none.
//
// It is called after each look at the key, however many there are: they all lead
// to one more look, not to one each. If the end comes nearer, so does that look.
// Recheck returns at once. When the queue is shut down, nothing of it is left.
func Recheck(queue Queue, key Key, requests []Request, now time.Time) {
	var next time.Time
	for _, r := range requests {
		if r.Until.After(now) && (next.IsZero() || r.Until.Before(next)) {
			next = r.Until
		}
	}
	if !next.IsZero() {
		queue.AddAfter(key, next.Sub(now))
	}
}
