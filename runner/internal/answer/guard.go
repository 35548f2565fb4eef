package answer

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Offence is a line by which an answer reaches for what judges it.
type Offence struct {
	File string // as a person is told it
	Line int
	What string // what stands there
}

// course's packages that judge; an answer has no business there.
var judging = []string{"/testbed", "/todo/channel", "/runner"}

// guard finds the offences of an answer's Go files: imports of what the check
// itself stands on, unsafe, and linkname, by which code reaches what another
// package hides. It doesn't make an answer harmless (that takes a container); it
// keeps a verdict from being forged in three lines.
func guard(files Files, module string) []Offence {
	root, _, _ := strings.Cut(module, "/chapters/")
	var found []Offence
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		file := files[name]
		add := func(line int, what string) {
			found = append(found, Offence{File: file.Origin, Line: line, What: what})
		}
		fset := token.NewFileSet()
		// What does not parse does not compile either.
		f, err := parser.ParseFile(fset, name, file.Data, parser.ImportsOnly)
		if err == nil {
			for _, imp := range f.Imports {
				if p, err := strconv.Unquote(imp.Path.Value); err == nil && reserved(p, root) {
					add(fset.Position(imp.Pos()).Line, "import "+imp.Path.Value)
				}
			}
		}
		for i, line := range bytes.Split(file.Data, []byte("\n")) {
			if bytes.HasPrefix(line, []byte("//go:linkname ")) {
				add(i+1, string(bytes.TrimSpace(line)))
			}
		}
	}
	return found
}

func reserved(path, root string) bool {
	if path == "unsafe" {
		return true
	}
	for _, p := range judging {
		if path == root+p || strings.HasPrefix(path, root+p+"/") {
			return true
		}
	}
	return false
}

// reportFirst makes a Go file import the channel over which a check reports, so
// that the channel has taken its word before any code of the answer's runs. Go
// starts packages in the order of their imports: without this, a package that
// imports nothing comes first. The import shares the line of the package clause,
// so that every line keeps its number.
func reportFirst(src []byte, module string) []byte {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.PackageClauseOnly)
	if err != nil {
		return src // the compiler will say why
	}
	at := fset.Position(f.Name.End()).Offset
	return slices.Concat(src[:at], fmt.Appendf(nil, "; import _ %q", channelOf(module)), src[at:])
}

func channelOf(module string) string {
	root, _, _ := strings.Cut(module, "/chapters/")
	return root + "/todo/channel"
}
