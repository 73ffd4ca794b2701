package schema

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder writes files into a folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func loadAny(path string) (*sample, *Diagnostics) {
	f, d := OpenAny(path)
	if f == nil {
		return nil, d
	}
	return read(f)
}

// TestFilesOfAFolderAreOne: in order of name; what is hidden or called otherwise is left alone,
// and the hash is that of the files one behind the other.
func TestFilesOfAFolderAreOne(t *testing.T) {
	second, first := "topic \"two\" {\n  depth = 2\n}\n", "server { workers = 3 }\ntopic \"one\" {\n  depth = 1\n}\n"
	dir := folder(t, map[string]string{"20-b.hcl": second, "10-a.hcl": first, ".30-c.hcl": "{{{", "40-d.hcl~": "{{{", "README": "{{{"})
	c, d := loadAny(dir)
	if c == nil {
		t.Fatal(d.Err())
	}
	if got := string(c.dump()); !strings.Contains(got, "workers = 3\n") || strings.Index(got, `"one"`) > strings.Index(got, `"two"`) || !strings.Contains(got, `"two"`) {
		t.Errorf("%s", got)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(first+second))); d.SHA256 != want {
		t.Errorf("SHA-256 %s, want %s", d.SHA256, want)
	}
}

// TestFaultsInAFolder are told with the file that they are in.
func TestFaultsInAFolder(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string // starts of lines, without the folder
	}{
		{"none", map[string]string{"a.txt": ""}, []string{": error: no file of this folder is called *.hcl"}},
		{"syntax of two", map[string]string{"a.hcl": "server {\n", "b.hcl": "\ntopic [\n"}, []string{"/a.hcl:", "/b.hcl:2:"}},
		{"no text", map[string]string{"a.hcl": "server {}\n", "b.hcl": "\n\xff"}, []string{"/b.hcl:2:1: error: byte 0xff"}},
		{"a value", map[string]string{"a.hcl": "server { workers = 1 }\n", "b.hcl": "\n\ntls { file = 7 }\n"}, []string{"/b.hcl:3:14: error: tls: file = 7: must be a string"}},
		{"a block twice", map[string]string{"a.hcl": "\nserver {}\n", "b.hcl": "server {}\n"}, []string{"/b.hcl:1:1: error: a second block server; the first stands in line 2 of DIR/a.hcl: merge them"}},
		{"a name twice", map[string]string{"a.hcl": "topic \"x\" { depth = 1 }\n", "b.hcl": "topic \"x\" { depth = 2 }\n"}, []string{"/b.hcl:1:1: error: a second topic \"x\"; the first stands in line 1 of DIR/a.hcl: names must differ"}},
		{"an attribute twice", map[string]string{"a.hcl": "x = 1\n", "b.hcl": "x = 1\n"}, []string{"/a.hcl:1:1: error: unknown attribute x", "/b.hcl:1:1: error: x is set a second time; the first stands in line 1 of DIR/a.hcl"}},
		{"in order of the files", map[string]string{"a.hcl": "\n\n\ny = 1\n", "b.hcl": "x = 1\n"}, []string{"/a.hcl:4:1: error:", "/b.hcl:1:1: error:"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, c.files)
			got, d := loadAny(dir)
			if got != nil || len(d.Errors) != len(c.want) {
				t.Fatalf("%v", d.Err())
			}
			for i, want := range c.want {
				if text := d.Errors[i].String(); !strings.HasPrefix(text, dir+strings.ReplaceAll(want, "DIR", dir)) {
					t.Errorf("%s\nwant %s", text, want)
				}
			}
		})
	}
}

// TestSnippetsInAFolder show the line of the right file.
func TestSnippetsInAFolder(t *testing.T) {
	dir := folder(t, map[string]string{"a.hcl": "server { workers = 1 }\n", "b.hcl": "tls { file = 7 }\n"})
	if _, d := loadAny(dir); !strings.Contains(d.Err().Error(), "tls { file = 7 }\n") {
		t.Error(d.Err())
	}
}

// TestTooManyFiles of a folder are refused before any is read.
func TestTooManyFiles(t *testing.T) {
	files := map[string]string{}
	for i := range maxSources + 1 {
		files[fmt.Sprintf("%d.hcl", i)] = ""
	}
	if _, d := loadAny(folder(t, files)); d.Err() == nil || !strings.Contains(d.Err().Error(), "257 files *.hcl are in this folder: at most 256 are read") {
		t.Error(d.Err())
	}
}

// FuzzFiles: whatever two files have, they are read or get errors that are in one of them.
func FuzzFiles(f *testing.F) {
	f.Add("server { workers = 1 }\n", "topic \"a\" {\n depth = \"${env.NODE}\"\n}\n")
	f.Add("server {}\nx = 1", "server {}\nx = 0x10")
	f.Fuzz(func(t *testing.T, a, b string) {
		file := NewFiles("folder", []Source{{"a.hcl", []byte(a)}, {"b.hcl", []byte(b)}})
		file.Env = environment
		c, d := read(file)
		if (c == nil) != (d.Err() != nil) {
			t.Fatalf("read: %v, error %v", c != nil, d.Err())
		}
		for _, x := range d.Errors {
			lines := map[string]int{"folder": 0, "a.hcl": strings.Count(a, "\n") + 1, "b.hcl": strings.Count(b, "\n") + 1}
			if most, known := lines[x.File]; !known || x.Line > most {
				t.Fatalf("%s", x)
			}
		}
	})
}
