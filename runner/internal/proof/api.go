package proof

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"slices"
	"strings"

	"github.com/controllings/controllings/runner/internal/answer"
)

// differentAPI compares what two answers export: what a check can call.
func differentAPI(stub, solution answer.Files) []string {
	a, b := exported(stub), exported(solution)
	var diffs []string
	for name, decl := range a {
		if other, ok := b[name]; !ok {
			diffs = append(diffs, name+" is only in the stub")
		} else if other != decl {
			diffs = append(diffs, name+" is "+oneLine(decl)+" in the stub and "+oneLine(other)+" in the solution")
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			diffs = append(diffs, name+" is only in the solution")
		}
	}
	slices.Sort(diffs)
	return diffs
}

// exported maps each exported name to its declaration as text: of a function
// its type without the parameters' names, of a type its exported fields and
// methods, of a variable or constant its type where it is written.
func exported(files answer.Files) map[string]string {
	found := map[string]string{}
	for name, f := range files {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, name, f.Data, parser.SkipObjectResolution)
		if err != nil {
			continue // the compiler says it better
		}
		ast.FileExports(parsed)
		pkg := parsed.Name.Name
		if i := strings.LastIndex(name, "/"); i >= 0 {
			pkg = name[:i]
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil && len(d.Recv.List) > 0 {
					name = show(fset, d.Recv.List[0].Type) + "." + name
				}
				found[pkg+"."+name] = show(fset, nameless(d.Type))
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						s.Doc, s.Comment = nil, nil
						found[pkg+"."+s.Name.Name] = show(fset, s.Type)
					case *ast.ValueSpec:
						for _, n := range s.Names {
							found[pkg+"."+n.Name] = d.Tok.String() + " " + show(fset, s.Type)
						}
					}
				}
			}
		}
	}
	return found
}

// nameless is a function's type with the names of parameters and results
// dropped: they bind nobody.
func nameless(t *ast.FuncType) *ast.FuncType {
	drop := func(l *ast.FieldList) *ast.FieldList {
		if l == nil {
			return nil
		}
		out := &ast.FieldList{}
		for _, f := range l.List {
			for range max(1, len(f.Names)) {
				out.List = append(out.List, &ast.Field{Type: f.Type})
			}
		}
		return out
	}
	return &ast.FuncType{TypeParams: t.TypeParams, Params: drop(t.Params), Results: drop(t.Results)}
}

func show(_ *token.FileSet, n ast.Node) string {
	if n == nil || n == ast.Expr(nil) {
		return ""
	}
	stripComments(n)
	var b bytes.Buffer
	// Without the file set's positions, layout does not count.
	_ = printer.Fprint(&b, token.NewFileSet(), n)
	return strings.Join(strings.Fields(b.String()), " ")
}

func stripComments(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			f.Doc, f.Comment = nil, nil
		}
		return true
	})
}
