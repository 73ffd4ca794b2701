package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// formatLists is where the comment of a package names the files that a format of telemetry has a line in.
const formatLists = "engine/wire/inthdr/doc.go"

// namedElsewhere are files that name IOAM for another reason: it is a type of report in Telemetry Report 2.0.
var namedElsewhere = []string{"engine/wire/report/individual.go", "exporters/record/generate/table.go"}

// TestFormatsAreNamedInTheirListsAlone: IOAM, which has no more than a format needs, is named in files of its own and in the lists
// that the recipe of a format has; and in each of these.
func TestFormatsAreNamedInTheirListsAlone(t *testing.T) {
	recipe := regexp.MustCompile(`[a-z/0-9]+/[a-z]+\.go`).FindAllString(read(t, formatLists), -1)
	slices.Sort(recipe)
	recipe = slices.Compact(recipe)
	var named []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin" || d.Name() == "testdata" || d.Name() == "ioam"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(d.Name(), "ioam"):
			return nil
		}
		if namesIOAM(t, path) && !slices.Contains(namedElsewhere, name) {
			named = append(named, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range named {
		if !slices.Contains(recipe, name) {
			t.Errorf("%s names IOAM: it should ask for a property that formats have (%s), or the recipe in %s lacks it", name, "engine/wire/inthdr/formats.go", formatLists)
		}
	}
	for _, name := range recipe {
		if !slices.Contains(named, name) {
			t.Errorf("%s: the recipe names %s, which does not name IOAM", formatLists, name)
		}
	}
}

// namesIOAM reports whether code, not a comment, has the name: in an identifier or a text.
func namesIOAM(t *testing.T, path string) (named bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	is := func(s string) bool { return strings.Contains(strings.ToLower(s), "ioam") }
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			named = named || is(n.Name)
		case *ast.BasicLit:
			named = named || is(n.Value)
		}
		return !named
	})
	return named && !ast.IsGenerated(f)
}
