package channel

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Read is the runner's side: it reads messages until the writer's end is closed
// and returns those that bear word, in the order in which they were sent.
//
// Whatever else arrives is dropped: another word, text that is no JSON, half a
// line of a process that was killed. At most max bytes are read; a process that
// sends more gets ErrTooLong, beside the messages up to there. The caller should
// then close r, since the process may hang in its next report. Read while the
// process runs: a pipe holds no more than its buffer.
//
// An empty word is an error, or every forged line would match.
func Read(r io.Reader, word string, max int64) ([]Message, error) {
	if word == "" {
		return nil, errors.New("channel: read without a word")
	}
	var got []Message
	var total int64
	lines := bufio.NewReader(io.LimitReader(r, max+1)) // bounds a line without an end too
	for {
		line, err := lines.ReadBytes('\n')
		if total += int64(len(line)); total > max {
			return got, ErrTooLong
		}
		if err == nil { // only a whole line counts
			if m, ok := parse(line, word); ok {
				got = append(got, m)
			}
			continue
		}
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		return got, fmt.Errorf("read reports: %w", err)
	}
}

func parse(line []byte, word string) (Message, bool) {
	var m Message
	if err := json.Unmarshal(line, &m); err != nil {
		return Message{}, false
	}
	return m, m.Word == word && m.Event != ""
}
