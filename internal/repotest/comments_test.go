package repotest

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// names are what the module declares, by the name of a package, and by that of a type for
// its fields and methods. Build tags make no difference: what one file declares counts.
type names struct {
	packages map[string]map[string]bool // package name: what it declares
	members  map[string]map[string]bool // type name: fields and methods
	open     map[string]bool            // types that embed others: their members are not all known
	files    map[string]bool            // names of source files, without their folders
}

func (n *names) add(set map[string]map[string]bool, owner, name string) {
	if set[owner] == nil {
		set[owner] = map[string]bool{}
	}
	set[owner][name] = true
}

func (n *names) declare(pkg string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			n.add(n.packages, pkg, d.Name.Name)
			return
		}
		n.add(n.members, receiver(d.Recv.List[0].Type), d.Name.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, id := range s.Names {
					n.add(n.packages, pkg, id.Name)
				}
			case *ast.TypeSpec:
				n.add(n.packages, pkg, s.Name.Name)
				n.declareType(s)
			}
		}
	}
}

func (n *names) declareType(s *ast.TypeSpec) {
	n.add(n.members, s.Name.Name, "")
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		n.open[s.Name.Name] = true // methods and fields of what it is made of
		return
	}
	for _, f := range fields.List {
		for _, id := range f.Names {
			n.add(n.members, s.Name.Name, id.Name)
		}
		if len(f.Names) == 0 {
			n.open[s.Name.Name] = true
		}
	}
}

func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

var (
	qualified  = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*)\b(?:\.([A-Za-z]\w*)\b)?`)
	member     = regexp.MustCompile(`(?:^|[^\w.])([A-Z]\w*)\.([A-Za-z]\w*)\b`)
	example    = regexp.MustCompile(`(?m)^[\t ].*$`) // code in a comment
	goName     = regexp.MustCompile("`([a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z]+[A-Z]\\w*)`")
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	sourceFile = regexp.MustCompile(`\b[a-z][a-z0-9_]*\.go\b`)
	camelWord  = regexp.MustCompile(`^[a-z]+[A-Z]\w*$`)
)

// stale are the identifiers that a comment names and nobody declares.
func (n *names) stale(comment string) (all []string) {
	for _, m := range qualified.FindAllStringSubmatch(comment, -1) {
		declared, ours := n.packages[m[1]]
		switch {
		case !ours:
		case !declared[m[2]]:
			all = append(all, m[1]+"."+m[2])
		case m[3] != "" && !n.hasMember(m[2], m[3]):
			all = append(all, m[0])
		}
	}
	for _, m := range member.FindAllStringSubmatch(comment, -1) {
		if n.members[m[1]] != nil && !n.hasMember(m[1], m[2]) {
			all = append(all, m[1]+"."+m[2])
		}
	}
	return all
}

func (n *names) hasMember(typ, name string) bool {
	return n.members[typ] == nil || n.open[typ] || n.members[typ][name] || strings.HasSuffix(name, "_test") || name == "go"
}

// everyName is what the module declares.
func everyName(t *testing.T) *names {
	t.Helper()
	n := &names{packages: map[string]map[string]bool{}, members: map[string]map[string]bool{}, open: map[string]bool{}, files: sourceFiles(t)}
	collect := func(pkg, _ string, _ *token.FileSet, f *ast.File) {
		name := f.Name.Name
		if name == "main" {
			name = path.Base(pkg)
		}
		for _, d := range f.Decls {
			n.declare(strings.TrimSuffix(name, "_test"), d)
		}
	}
	forEachFile(t, collect)
	forEachTest(t, collect)
	return n
}

// sourceFiles are the names of all files of code in the repository.
func sourceFiles(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[d.Name()] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// declared reports whether name is declared anywhere.
func (n *names) declared(name string) bool {
	for _, sets := range []map[string]map[string]bool{n.packages, n.members} {
		for _, set := range sets {
			if set[name] {
				return true
			}
		}
	}
	return false
}

// TestDocumentsNameWhatThereIs: what the documents for developers put in backquotes and
// looks like a name of Go is declared.
func TestDocumentsNameWhatThereIs(t *testing.T) {
	n := everyName(t)
	for _, doc := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		for _, m := range codeSpan.FindAllStringSubmatch(read(t, doc), -1) {
			for _, name := range n.stale(m[1]) {
				t.Errorf("%s names `%s`, which nothing declares", doc, name)
			}
		}
		for _, m := range goName.FindAllStringSubmatch(read(t, doc), -1) {
			if !n.declared(m[1]) {
				t.Errorf("%s names `%s`, which nothing declares", doc, m[1])
			}
		}
	}
}

// TestCommentsNameWhatThereIs: an identifier in a comment, as package.Name or Type.Member,
// is declared somewhere; and a doc comment that begins with an identifier begins with that
// of its function.
func TestCommentsNameWhatThereIs(t *testing.T) {
	n := everyName(t)
	check := func(_, path string, fset *token.FileSet, f *ast.File) {
		for _, group := range f.Comments {
			for _, name := range sourceFile.FindAllString(group.Text(), -1) {
				if !n.files[name] {
					t.Errorf("%s:%d: the comment names %s, which is no file", path, fset.Position(group.Pos()).Line, name)
				}
			}
			for _, name := range n.stale(example.ReplaceAllString(group.Text(), "")) {
				t.Errorf("%s:%d: the comment names %s, which nothing declares", path, fset.Position(group.Pos()).Line, name)
			}
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			first, _, _ := strings.Cut(fn.Doc.Text(), " ")
			if first = strings.TrimRight(first, ":,.\n"); camelWord.MatchString(first) && first != fn.Name.Name {
				t.Errorf("%s: the comment of %s begins with %s", path, fn.Name.Name, first)
			}
		}
	}
	forEachFile(t, check)
	forEachTest(t, check)
}
