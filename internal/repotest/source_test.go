package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	maxFunctionLines = 60
	maxFileLines     = 300 // in packages on or near the packet path
)

var shortFiles = []string{"engine", "engine/...", "flows", "dpdk/..."}

// forEachFile parses every Go file of the module that is not a test.
func forEachFile(t *testing.T, visit func(pkg, path string, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	parseFiles(t, func(p *goPackage) []string { return slices.Concat(p.GoFiles, p.CgoFiles) }, visit)
}

// forEachTest parses every test file of the module.
func forEachTest(t *testing.T, visit func(pkg, path string, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	parseFiles(t, func(p *goPackage) []string { return slices.Concat(p.TestGoFiles, p.XTestGoFiles) }, visit)
}

func parseFiles(t *testing.T, files func(*goPackage) []string, visit func(pkg, path string, fset *token.FileSet, f *ast.File)) {
	t.Helper()
	for _, p := range listPackages(t) {
		for _, name := range files(&p) {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			pkg := ours(p.ImportPath)
			visit(pkg, pkg+"/"+name, fset, f)
		}
	}
}

func TestExportedHaveDocComments(t *testing.T) {
	forEachFile(t, func(_, path string, _ *token.FileSet, f *ast.File) {
		for _, d := range f.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: exported %s has no doc comment", path, name)
			}
		}
	})
}

// undocumented are the exported names that d declares without a comment. A
// comment on a group counts for each of its names; names in a group of constants
// may speak for themselves, since their type has a comment.
func undocumented(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && !conventional(d) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if d.Doc == nil && s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				enumerated := d.Tok == token.CONST && d.Lparen.IsValid()
				if !enumerated && d.Doc == nil && s.Doc == nil && s.Comment == nil && s.Names[0].IsExported() {
					names = append(names, s.Names[0].Name)
				}
			}
		}
	}
	return names
}

// conventional methods need no words: their interface in the standard library
// documents them.
func conventional(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"String", "Error", "Unwrap", "Close"}, d.Name.Name)
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if generic, ok := typ.(*ast.IndexExpr); ok {
		typ = generic.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	forEachFile(t, func(pkg, path string, fset *token.FileSet, f *ast.File) {
		if ast.IsGenerated(f) { // read where it comes from
			return
		}
		if n := fset.Position(f.FileEnd).Line; n > maxFileLines &&
			slices.ContainsFunc(shortFiles, func(pattern string) bool { return matches(pkg, pattern) }) {
			t.Errorf("%s has %d lines, more than %d", path, n, maxFileLines)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", path, fn.Name.Name, n, maxFunctionLines)
			}
		}
	})
}

// No init, in tests neither, and no blank import: parts are assembled where everybody can
// read it.
func TestNoHiddenAssembly(t *testing.T) {
	noInit := func(_, path string, _ *token.FileSet, f *ast.File) {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function", path)
			}
		}
	}
	forEachTest(t, noInit)
	forEachFile(t, noInit)
	forEachFile(t, func(_, path string, _ *token.FileSet, f *ast.File) {
		for _, i := range f.Imports {
			if i.Name != nil && i.Name.Name == "_" && i.Path.Value != `"embed"` {
				t.Errorf("%s: blank import of %s", path, i.Path.Value)
			}
		}
	})
}

// The packet path logs nothing, formats nothing and asks nobody for the time.
func TestPacketPathImports(t *testing.T) {
	banned := []string{"fmt", "log", "log/slog", "reflect", "sync", "time"}
	forEachFile(t, func(pkg, path string, _ *token.FileSet, f *ast.File) {
		if !slices.Contains([]string{"engine/wire/packet", "engine/wire/inthdr", "engine/wire/strip"}, pkg) {
			return
		}
		for _, i := range f.Imports {
			if name := strings.Trim(i.Path.Value, `"`); slices.Contains(banned, name) {
				t.Errorf("%s imports %s", path, name)
			}
		}
	})
}
