package answer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParsePatch(t *testing.T) {
	const diff = "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a: b\n+b\n"
	p, err := parsePatch("Title: One\nWrong: it is\n  wrong, and\n\tso on\nRejected-By: TestX\nSays: some words\nSource: https://example.com/a:b\n\n"+diff, "m.patch")
	require.NoError(t, err)
	assert.Equal(t, "One", p.Title)
	assert.Equal(t, "it is wrong, and so on", p.Wrong)
	assert.Equal(t, "TestX", p.RejectedBy)
	assert.Equal(t, "some words", p.Says)
	assert.Equal(t, "https://example.com/a:b", p.Source)
	assert.Equal(t, diff, p.Diff)
	assert.Equal(t, []string{"x.go"}, p.Touches())

	p, err = parsePatch(diff, "stub.patch")
	require.NoError(t, err)
	assert.Empty(t, p.Head)
	assert.Equal(t, diff, p.Diff)

	for text, want := range map[string]string{
		"Titel: x\n" + diff:            `m.patch:1: "Titel: x" is no head line`,
		"Title: x\nTitle: y\n" + diff:  "m.patch:2: Title: stands twice",
		"  indented\n" + diff:          "m.patch:1: an indented line that continues nothing",
		"Title: x\n\n  gone\n" + diff:  "m.patch:3: an indented line",
		"some prose about it\n" + diff: "is no head line",
	} {
		_, err := parsePatch(text, "m.patch")
		assert.ErrorContains(t, err, want)
	}
}

func TestTouches(t *testing.T) {
	p := &Patch{Diff: "diff --git a/dir/x.go b/dir/x.go\n--- a/dir/x.go\n+++ b/dir/x.go\n@@ -1 +1 @@\n" +
		"--- /dev/null\n+++ b/new.yaml\n--- a/old.go\n+++ /dev/null\nrename from a.go\nrename to b.go\n"}
	assert.Equal(t, []string{"dir/x.go", "new.yaml", "old.go", "a.go", "b.go"}, p.Touches())
}

func TestParseName(t *testing.T) {
	for text, want := range map[string]Name{
		"mine": {Kind: Mine}, "stub": {Kind: Stub}, "solution": {Kind: Solution},
		"mistakes/a-b2": {Mistake, "a-b2"}, "alternatives/x": {Alternative, "x"}, "mistakes/x.patch": {Mistake, "x"},
	} {
		n, err := ParseName(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "Mine", "mine/x", "mistakes", "mistakes/", "mistakes/../x", "mistakes/a/b", "mistakes/-a", "alternatives/A", "other/x"} {
		_, err := ParseName(text)
		assert.Error(t, err, text)
	}
}

func TestRewriteImports(t *testing.T) {
	const from, to = "example.com/solutions/01-x", "example.com/chapters/01-x"
	for name, c := range map[string]struct{ src, want string }{
		"its own packages": {
			"package x\n\nimport (\n\ta \"" + from + "/a\"\n\t\"" + from + "\"\n\t\"fmt\"\n)\n\nvar s = \"" + from + "/a\"\n",
			"package x\n\nimport (\n\ta \"" + to + "/a\"\n\t\"" + to + "\"\n\t\"fmt\"\n)\n\nvar s = \"" + from + "/a\"\n",
		},
		"a longer name is another": {
			"package x\n\nimport \"" + from + "-more/a\"\n", "package x\n\nimport \"" + from + "-more/a\"\n",
		},
		"broken Go stays": {"package x\nimport \"" + from + "\n", "package x\nimport \"" + from + "\n"},
		"raw strings":     {"package x\nimport `" + from + "/a`\n", "package x\nimport \"" + to + "/a\"\n"},
	} {
		assert.Equal(t, c.want, string(rewriteImports([]byte(c.src), from, to)), name)
	}
}
