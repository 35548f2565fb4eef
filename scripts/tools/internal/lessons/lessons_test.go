package lessons

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/scripts/tools/internal/repo"
	"github.com/controllings/controllings/scripts/tools/internal/tree"
)

func TestSame(t *testing.T) {
	for name, c := range map[string]struct {
		shown, got string
		same       bool
	}{
		"equal":               {"a\nb", "a\nb", true},
		"another":             {"a\nb", "a\nc", false},
		"times":               {"ready in 2.4 s (1m2.5s)", "ready in 11 s (300ms)", true},
		"columns":             {"passed     2.4 s", "passed    11.0 s", true},
		"a namespace":         {"GET /api/v1/namespaces/bed-x7k2/pods", "GET /api/v1/namespaces/bed-abcde/pods", true},
		"a port":              {"https://127.0.0.1:34567", "https://127.0.0.1:1", true},
		"a Pod":               {"pod/web-5d4f8c7b9-x2k4z", "pod/web-7c9d8b6f5-qq7rv", true},
		"a size":              {"61 KB", "7 B", true},
		"a date":              {"2026-11-30T10:00:00Z", "2026-12-01T11:59:59Z", true},
		"a count":             {"214 GET requests", "213 GET requests", false},
		"an elision":          {"a\n…\nd", "a\nb\nc\nd", true},
		"an elision of none":  {"a\n…\nd", "a\nd", true},
		"an elision, at last": {"a\n…", "a\nb", true},
		"elided too early":    {"a\n…\nd", "a\nb\nc", false},
		"two elisions":        {"…\nb\n…\nd", "a\nb\nb\nc\nd", true},
		"less than shown":     {"a\nb", "a", false},
		"more than shown":     {"a", "a\nb", false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.same, same(strings.Split(c.shown, "\n"), strings.Split(c.got, "\n")))
		})
	}
}

const lesson = "# A lesson\n" +
	"```console\n$ one\nold\n$ two\ntook 1 s\n```\n" +
	"```sh\nthree\n```\n" +
	"<!-- run: bin/lab run 1 --answer stub -->\n```console\n$ make chapter-1\n```\n" +
	"<!-- run: two -->\n```console\ntook 1 s\n```\n" +
	"<!-- not run: it takes an hour -->\n\n```console\n$ four\nas it was\n```\nend\n"

func TestRewrite(t *testing.T) {
	var ran []string
	was := shell
	t.Cleanup(func() { shell = was })
	r := tree.New(t, "")
	shell = func(_ context.Context, _ *repo.Repo, line string) (string, string, error) {
		ran = append(ran, line)
		return map[string]string{
			"one":                         "new\n\nin " + r.Root + "/chapters\n",
			"two":                         "took 9 s\n",
			"bin/lab run 1 --answer stub": "not started\n",
		}[line], "", nil
	}
	got, err := rewrite(t.Context(), r, lesson)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two", "bin/lab run 1 --answer stub", "two"}, ran)
	want := strings.Replace(lesson, "old", "new\n\nin chapters", 1)
	want = strings.Replace(want, "$ make chapter-1\n", "$ make chapter-1\nnot started\n", 1)
	require.Equal(t, want, got)

	again, err := rewrite(t.Context(), r, got)
	require.NoError(t, err)
	require.Equal(t, got, again)
}

func TestBadBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"```console\n$ one\n":                            "line 1: the block is never closed",
		"```console\none\n```":                           `line 2: a console block begins with "$ COMMAND"`,
		"```console\n```":                                `line 2: a console block begins with "$ COMMAND"`,
		"<!-- run: x -->\n```console\n$ one\n$ two\n```": "line 2: <!-- run: … --> is for one command, and 2 are shown",
	} {
		_, err := blocks(strings.Split(text, "\n"))
		require.EqualError(t, err, want)
	}
}

func TestACommandThatSaysNothingButAnError(t *testing.T) {
	r := tree.New(t, "")
	_, err := rewrite(t.Context(), r, "```console\n$ echo no such answer >&2; exit 2\n```\n")
	require.ErrorContains(t, err, "prints nothing but:\nno such answer")
}
