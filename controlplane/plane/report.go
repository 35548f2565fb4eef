package plane

import (
	"encoding/json"
	"io"
	"os"
)

// message is what the supervisor tells the up that started it, one JSON line
// each. It is a pipe and not a file so that a full disk can be told of too.
type message struct {
	Say   string `json:"say,omitempty"`
	Ready bool   `json:"ready,omitempty"`
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

type reporter struct{ w *os.File }

// send is best effort: whoever listened may be gone.
func (r reporter) send(m message) {
	data, err := json.Marshal(m)
	if err == nil {
		_, _ = r.w.Write(append(data, '\n'))
	}
}

// receive hands each message to f until the supervisor closes its end.
func receive(r io.Reader, f func(message)) {
	d := json.NewDecoder(r)
	for {
		var m message
		if d.Decode(&m) != nil {
			return
		}
		f(m)
	}
}
