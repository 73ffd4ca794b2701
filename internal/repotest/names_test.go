// Names that a Go or C file declares, for the index of files.

package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// namesOf is the line of the index below a file's phrase: what the file declares.
func namesOf(t *testing.T, path string) string {
	t.Helper()
	names := fileNames(t, path, read(t, path))
	if names == nil {
		return ""
	}
	return "\n  `" + strings.Join(names, ", ") + "`"
}

// fileNames are what a file declares, in its order: types with their fields, functions,
// constants and variables; methods behind their type.
func fileNames(t *testing.T, path, source string) (all []string) {
	t.Helper()
	if filepath.Ext(path) != ".go" {
		return cNames(source)
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]int{} // where a type and its methods stand in all
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					types[spec.Name.Name] = len(all)
					all = append(all, spec.Name.Name+braced(fields(spec.Type)))
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if name.Name != "_" {
							all = append(all, name.Name)
						}
					}
				}
			}
		case *ast.FuncDecl:
			name := d.Name.Name + "()" + braced(fields(d.Body))
			if d.Recv == nil {
				all = append(all, name)
				continue
			}
			owner := receiver(d.Recv.List[0].Type)
			if at, known := types[owner]; known {
				all[at] += " ." + name
				continue
			}
			types[owner] = len(all)
			all = append(all, owner+"."+name)
		}
	}
	return all
}

func braced(fields []string) string {
	if fields == nil {
		return ""
	}
	return "{" + strings.Join(fields, " ") + "}"
}

// fields are the names of the fields of all structs in n, and of the methods of its
// interfaces; behind a field its key in JSON, where that is another word.
func fields(n ast.Node) (names []string) {
	if n == nil || reflect.ValueOf(n).IsNil() {
		return nil
	}
	ast.Inspect(n, func(n ast.Node) bool {
		var list *ast.FieldList
		switch n := n.(type) {
		case *ast.StructType:
			list = n.Fields
		case *ast.InterfaceType:
			list = n.Methods
		default:
			return true
		}
		for _, f := range list.List {
			for _, name := range f.Names {
				if name.Name != "_" {
					names = append(names, name.Name+jsonKey(f, name.Name))
				}
			}
			if f.Names == nil {
				if embedded := receiver(f.Type); embedded != "" {
					names = append(names, embedded)
				}
			}
		}
		return true
	})
	return names
}

// jsonKey is "=key" where a field's key in JSON is more than the field's name in small letters.
func jsonKey(f *ast.Field, name string) string {
	if f.Tag == nil {
		return ""
	}
	key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
	if key == "" || key == "-" || strings.EqualFold(strings.ReplaceAll(key, "_", ""), name) {
		return ""
	}
	return "=" + key
}

var (
	cComment   = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
	cDirective = regexp.MustCompile(`(?m)^#(?:\\\n|.)*\n`)
	cMacro     = regexp.MustCompile(`^#\s*define\s+(\w+)`)
	cAttribute = regexp.MustCompile(`__attribute__\(\(.*?\)\)`)
	cFunction  = regexp.MustCompile(`(\w+)\(`)
	cDeclared  = regexp.MustCompile(`(\w+)\s*(?:\[[^\]]*\]\s*)*(?::\s*\w+\s*)?(?:=.*)?$`)
)

// cNames are what a C file of this project declares: macros, structs with their fields,
// numbers of enums, functions and variables.
func cNames(source string) (all []string) {
	source = cComment.ReplaceAllString(source, "")
	source = cDirective.ReplaceAllStringFunc(source, func(line string) string {
		if m := cMacro.FindStringSubmatch(line); m != nil && !strings.HasSuffix(m[1], "_H") {
			all = append(all, m[1])
		}
		return ""
	})
	for source != "" {
		end := strings.IndexAny(source, "{;")
		if end < 0 {
			break
		}
		head, body := cAttribute.ReplaceAllString(strings.TrimSpace(source[:end]), ""), ""
		if source = source[end:]; source[0] == '{' {
			body, source = block(source)
		} else {
			source = source[1:]
		}
		name := cFunction.FindStringSubmatch(head)
		switch {
		case strings.HasPrefix(head, "enum"):
			all = append(all, declared(strings.Split(body, ","))...)
		case name != nil && !strings.Contains(head, "="):
			if !slices.Contains(all, name[1]+"()") {
				all = append(all, name[1]+"()")
			}
		case body != "" && !strings.Contains(head, "="):
			all = append(all, strings.Join(declared([]string{head}), "")+braced(declared(strings.FieldsFunc(body, func(r rune) bool { return r == ';' || r == ',' }))))
		default:
			all = append(all, declared(strings.Split(head, ","))...)
		}
	}
	return all
}

// block cuts source, which begins with a brace, behind the brace that closes it.
func block(source string) (inside, rest string) {
	depth := 0
	for i, b := range source {
		switch b {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return source[1:i], source[i+1:]
			}
		}
	}
	return source[1:], ""
}

// declared are the names that declarations of C end with.
func declared(declarations []string) (names []string) {
	for _, d := range declarations {
		if m := cDeclared.FindStringSubmatch(strings.TrimSpace(d)); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}

func TestNamesOfFile(t *testing.T) {
	for _, c := range []struct{ file, source, want string }{
		{"a.go", `package a

const one, two = 1, 2

type T struct {
	a, B int
	In   struct{ C int ` + "`json:\"other\"`" + ` }
	Key  int ` + "`json:\"key\"`" + `
	sync.Mutex
	Embedded
}

type I interface{ Do() }

func (t *T) m() {}
func f() { var x struct{ local int } }
func (t *T) n() {}
func (*elsewhere) n() {}
`, "one, two, T{a B In Key Embedded C=other} .m() .n(), I{Do}, f(){local}, elsewhere.n()"},
		{"a.h", `#ifndef A_H
#define A_H
// struct not { int a; };
#define LIMIT \
	3
enum { ONE = 1, TWO };
struct s {
	uint8_t a, *b; // first
	uint16_t c[LIMIT], d : 3;
};
static struct s *here, there;
static const char *names[] = { "x", "y" };
static inline __attribute__((noinline)) int f(struct s *s, int (*g)(void))
{
	if (s) { return 1; }
	return 2;
}
void f(struct s *s);
void h(void);
#endif
`, "LIMIT, ONE, TWO, s{a b c d}, here, there, names, f(), h()"},
	} {
		t.Run(c.file, func(t *testing.T) {
			if got := strings.Join(fileNames(t, c.file, c.source), ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
