package answer

import (
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// rewriteImports changes the import prefix from → to in a Go file, and nothing
// else: a solution's own packages are then the staged module's. A file that
// does not parse stays as it is; the compiler will say why.
func rewriteImports(src []byte, from, to string) []byte {
	if from == to || !strings.Contains(string(src), from) {
		return src
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.ImportsOnly)
	if err != nil {
		return src
	}
	var out []byte
	done := 0
	for _, imp := range f.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil || (p != from && !strings.HasPrefix(p, from+"/")) {
			continue
		}
		at := fset.Position(imp.Path.Pos()).Offset
		out = append(out, src[done:at]...)
		out = append(out, strconv.Quote(to+strings.TrimPrefix(p, from))...)
		done = at + len(imp.Path.Value)
	}
	return append(out, src[done:]...)
}

// toChapter and toSolution turn an answer's imports of its own packages from
// the solution's module to the chapter's and back. module is the chapter's.
func toChapter(name string, src []byte, module string) []byte {
	if !strings.HasSuffix(name, ".go") {
		return src
	}
	return rewriteImports(src, solutionModule(module), module)
}

func toSolution(name string, src []byte, module string) []byte {
	if !strings.HasSuffix(name, ".go") {
		return src
	}
	return rewriteImports(src, module, solutionModule(module))
}

func solutionModule(chapter string) string {
	return strings.Replace(chapter, "/chapters/", "/solutions/", 1)
}
