package repotest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// indexed are the folders whose files ARCHITECTURE.md lists.
var indexed = []string{"engine", "flows", "dpdk", "conf", "exporters", "cmd"}

// TestFileIndexIsInTheDocument: ARCHITECTURE.md lists the files of the program, package by
// package, each with a phrase out of the file itself (see phrase) and the names that the file
// declares.
func TestFileIndexIsInTheDocument(t *testing.T) {
	var index strings.Builder
	said := map[string]string{}
	for _, dir := range programFolders(t) {
		fmt.Fprintf(&index, "**`%s`**\n\n", dir)
		for _, path := range programFiles(t, dir) {
			text, isDoc := phrase(t, path)
			if isDoc {
				continue // the package comment alone
			}
			switch other := said[text]; {
			case text == "":
				t.Errorf("%s begins with no phrase: above the line `package`, with an empty line between, say in one sentence of at most %d characters what stands in this file and in no other, then run `make imports`", path, maxPhrase)
			case len(text) > maxPhrase:
				t.Errorf("%s: the phrase has %d characters, more than %d: %s", path, len(text), maxPhrase, text)
			case other != "":
				t.Errorf("%s and %s have the same phrase: %s", other, path, text)
			}
			said[text] = path
			fmt.Fprintf(&index, "- `%s`: %s%s\n", filepath.Base(path), strings.TrimSuffix(text, "."), namesOf(t, path))
		}
		index.WriteString("\n")
	}
	updateDocument(t, "index of files", index.String())
}

// maxPhrase keeps a phrase to two lines of a screen.
const maxPhrase = 200

// programFolders are the folders below indexed with Go or C that is not a test.
func programFolders(t *testing.T) (dirs []string) {
	t.Helper()
	for _, top := range indexed {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			dir, err := filepath.Rel(root, filepath.Dir(path))
			if isSource(path) && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// programFiles are the Go and C files of dir that are not tests.
func programFiles(t *testing.T, dir string) (paths []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(root, dir, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if isSource(path) {
			paths = append(paths, filepath.Join(dir, filepath.Base(path)))
		}
	}
	return paths
}

func isSource(path string) bool {
	return slices.Contains([]string{".go", ".c", ".h"}, filepath.Ext(path)) &&
		!strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "testdata/")
}

// phrase is the first sentence of the comment that a file begins with. In Go an empty line parts
// it from the package clause and from the package comment. isDoc reports whether a file has only
// the comment of its package and no declarations.
func phrase(t *testing.T, path string) (text string, isDoc bool) {
	t.Helper()
	source := read(t, path)
	if filepath.Ext(path) != ".go" {
		return sentence(firstComment(source)), false
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.Comments {
		if g.Pos() < f.Package && g != f.Doc && g.Text() != "" {
			return sentence(g.Text()), false
		}
	}
	if f.Doc == nil {
		return "", false
	}
	return sentence(f.Doc.Text()), !declares(f)
}

// firstComment is the text of a C file's first comment, which stands above the code.
func firstComment(source string) string {
	var comment string
	for line := range strings.Lines(source) {
		text, isComment := strings.CutPrefix(line, "// ")
		switch {
		case isComment:
			comment += text
		case comment != "":
			return comment
		case line != "\n" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//go:build"):
			return ""
		}
	}
	return comment
}

// declares reports whether f has more than imports.
func declares(f *ast.File) bool {
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		g, isGroup := d.(*ast.GenDecl)
		return !isGroup || g.Tok != token.IMPORT
	})
}

// sentence is the first sentence of a comment, on one line.
func sentence(comment string) string {
	comment = strings.Join(strings.Fields(comment), " ")
	if first, _, more := strings.Cut(comment, ". "); more {
		return first + "."
	}
	return comment
}
