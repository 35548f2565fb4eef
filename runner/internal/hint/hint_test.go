package hint

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestOf(t *testing.T) {
	inner := New("free some space", "write %q: %w", "f", fs.ErrInvalid)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nil":                     {nil, ""},
		"no hint":                 {errors.New("x"), ""},
		"bare":                    {inner, "free some space"},
		"wrapped":                 {fmt.Errorf("build: %w", inner), "free some space"},
		"the outer one wins":      {New("outer", "build: %w", inner), "outer"},
		"an empty one is skipped": {New("", "build: %w", inner), "free some space"},
		"joined":                  {errors.Join(errors.New("x"), inner), "free some space"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Of(c.err); got != c.want {
				t.Errorf("Of(%v) = %q, want %q", c.err, got, c.want)
			}
		})
	}
	if !errors.Is(inner, fs.ErrInvalid) {
		t.Error("the cause is lost")
	}
	if got, want := inner.Error(), `write "f": invalid argument`; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}
