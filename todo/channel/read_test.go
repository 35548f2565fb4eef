package channel

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	const good = `{"word":"w","event":"started","test":"TestX"}` + "\n"
	for name, tc := range map[string]struct {
		in   string
		max  int64
		want []string // the events
		err  error
	}{
		"nothing":            {in: "", max: 1 << 10},
		"one":                {in: good, max: 1 << 10, want: []string{"started"}},
		"in order":           {in: good + `{"word":"w","event":"passed"}` + "\n", max: 1 << 10, want: []string{"started", "passed"}},
		"another word":       {in: `{"word":"x","event":"passed"}` + "\n" + good, max: 1 << 10, want: []string{"started"}},
		"no word":            {in: `{"event":"passed"}` + "\n" + good, max: 1 << 10, want: []string{"started"}},
		"no event":           {in: `{"word":"w"}` + "\n", max: 1 << 10},
		"no JSON":            {in: "--- PASS: TestX\n\x16--- PASS\n" + good, max: 1 << 10, want: []string{"started"}},
		"two on a line":      {in: strings.TrimSpace(good) + good, max: 1 << 10},
		"killed in a line":   {in: good + `{"word":"w","event":"passed"}`, max: 1 << 10, want: []string{"started"}},
		"exactly the limit":  {in: good, max: int64(len(good)), want: []string{"started"}},
		"one over the limit": {in: good + "\n", max: int64(len(good)), want: []string{"started"}, err: ErrTooLong},
		"an endless line":    {in: good + strings.Repeat("a", 1<<20), max: 1 << 12, want: []string{"started"}, err: ErrTooLong},
		"many":               {in: strings.Repeat(good, 100), max: int64(len(good) * 2), want: []string{"started", "started"}, err: ErrTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(strings.NewReader(tc.in), "w", tc.max)
			if !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			var events []string
			for _, m := range got {
				events = append(events, m.Event)
			}
			if !reflect.DeepEqual(events, tc.want) {
				t.Errorf("events %q, want %q", events, tc.want)
			}
		})
	}
}

func TestReadWantsAWord(t *testing.T) {
	if _, err := Read(strings.NewReader(`{"event":"passed"}`+"\n"), "", 1<<10); err == nil {
		t.Error("read without a word: no error")
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	var b bytes.Buffer
	want := Message{Word: "w", Event: Failed, Test: "TestX", Step: "1.2", Failure: &Failure{
		Expected: "one\nrequest", Seen: "„zwei“", See: "README.md#x", Message: "m", File: "a b/c.go", Line: 7,
	}}
	if err := write(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b, "w", 1<<20)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	if !reflect.DeepEqual(got[0], want) {
		t.Errorf("got %+v, want %+v", got[0], want)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	var b bytes.Buffer
	long := strings.Repeat("é", maxText)
	m := Message{Word: "w", Event: Failed, Failure: &Failure{Seen: long, Message: long}}
	if err := write(&b, m); err != nil {
		t.Fatal(err)
	}
	if m.Failure.Seen != long {
		t.Error("the caller's text was changed")
	}
	if b.Len() > 3*maxText {
		t.Errorf("%d bytes on the wire", b.Len())
	}
	if got, err := Read(&b, "w", 1<<20); err != nil || len(got) != 1 {
		t.Errorf("got %d messages, %v", len(got), err)
	}
}
