package answer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGuard(t *testing.T) {
	const module = "example.com/c/chapters/01-x"
	for src, want := range map[string][]Offence{
		"package x\n\nimport \"fmt\"\n":                                   nil,
		"package x\n\nimport \"example.com/c/todo\"\n":                    nil,
		"package x\n\nimport \"example.com/other/testbed\"\n":             nil,
		"package x\n\nimport \"example.com/c/todos/channel\"\n":           nil,
		"package x\n\nimport c \"example.com/c/todo/channel\"\n":          {{"x", 3, `import "example.com/c/todo/channel"`}},
		"package x\n\nimport (\n\t. `example.com/c/testbed/proxy`\n)\n":   {{"x", 4, "import `example.com/c/testbed/proxy`"}},
		"package x\n\nimport _ \"unsafe\"\n\n//go:linkname a b.c\n":       {{"x", 3, `import "unsafe"`}, {"x", 5, "//go:linkname a b.c"}},
		"package x\n\n// A line on //go:linkname in a comment is none.\n": nil,
	} {
		assert.Equal(t, want, guard(Files{"x.go": {Data: []byte(src), Origin: "x"}, "notes.md": {Data: []byte("//go:linkname a b")}}, module), "%s", src)
	}
}

func TestReportFirst(t *testing.T) {
	const module = "example.com/c/chapters/01-x"
	for src, want := range map[string]string{
		"package x\n": "package x; import _ \"example.com/c/todo/channel\"\n",
		"// Package x is.\npackage x // so\n\nvar a":         "// Package x is.\npackage x; import _ \"example.com/c/todo/channel\" // so\n\nvar a",
		"//go:build ignore\n\npackage main;import \"fmt\"\n": "//go:build ignore\n\npackage main; import _ \"example.com/c/todo/channel\";import \"fmt\"\n",
		"pakage x\n": "pakage x\n",
	} {
		got := string(reportFirst([]byte(src), module))
		assert.Equal(t, want, got)
		assert.Equal(t, strings.Count(src, "\n"), strings.Count(got, "\n"), "every line keeps its number")
	}
}
