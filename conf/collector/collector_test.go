package collector

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"intsink/conf/schema"
)

var update = flag.Bool("update", false, "write the expected files of testdata")

// TestGolden: what each file of testdata gives: the whole configuration, or its faults.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.hcl")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, diags := Parse("collect.hcl", src)
			var b strings.Builder
			diags.WriteTo(&b)
			if c != nil {
				b.Write(c.Dump())
				again, diags := Parse("collect.hcl", c.Dump())
				if again == nil || string(again.Dump()) != string(c.Dump()) {
					t.Errorf("the dump does not read as the same: %v", diags.Err())
				}
			}
			golden := strings.TrimSuffix(file, ".hcl") + ".txt"
			if *update {
				os.WriteFile(golden, []byte(b.String()), 0o644)
			}
			want, err := os.ReadFile(golden)
			if err != nil || b.String() != string(want) {
				t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
			}
			if bad := strings.HasPrefix(filepath.Base(file), "bad"); bad != (c == nil) {
				t.Errorf("configuration %v", c)
			}
		})
	}
}

// TestPathsAreOfTheFilesFolder, but for standard output and absolute ones.
func TestPathsAreOfTheFilesFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "collect.hcl")
	os.WriteFile(filepath.Join(dir, "ca.pem"), nil, 0o600)
	os.WriteFile(path, []byte(`
listen "r" { address = "127.0.0.1:1" }
spool { directory = "spool" }
file "a" { path = "a.jsonl" }
file "b" { path = "-" }
file "c" { path = "unix:c.sock" }
file "d" { path = "/d.jsonl" }
kafka "k" {
  brokers = ["127.0.0.1:9092"]
  tls { ca = "ca.pem" }
}
`), 0o600)
	c, diags := Load(path)
	if c == nil {
		t.Fatal(diags.Err())
	}
	got := []string{c.Spool.Directory, c.Files[0].Path, c.Files[1].Path, c.Files[2].Path, c.Files[3].Path, c.Kafkas[0].TLS.CA}
	want := []string{dir + "/spool", dir + "/a.jsonl", "-", "unix:" + dir + "/c.sock", "/d.jsonl", dir + "/ca.pem"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
}

func TestSecretsThatOthersCanRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	for mode, warnings := range map[os.FileMode]int{0o640: 0, 0o644: 1} {
		os.WriteFile(path, []byte("x"), mode)
		os.Chmod(path, mode)
		_, diags := Parse("c.hcl", []byte(`
listen "r" { address = "127.0.0.1:1" }
clickhouse "c" {
  url           = "https://ch:8443/?table=t"
  password_file = "`+path+`"
}
`))
		var b strings.Builder
		diags.WriteTo(&b)
		if n := strings.Count(b.String(), "can read"); n != warnings {
			t.Errorf("mode %o: %s", mode, b.String())
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1B": 1, "64MiB": 64 << 20, "10 GiB": 10 << 30, "3kB": 3000, "5TB": 5e12} {
		if n, ok := schema.ParseSize(text); !ok || n != want {
			t.Errorf("%s: %d, %v", text, n, ok)
		}
		if n, ok := schema.ParseSize(schema.SizeText(want)); !ok || n != want {
			t.Errorf("%d is written as %s", want, schema.SizeText(want))
		}
	}
	for _, text := range []string{"", "5", "-1MiB", "MiB", "1.5MiB", "9999999999TiB", "1mib"} {
		if n, ok := schema.ParseSize(text); ok {
			t.Errorf("%q is taken for %d", text, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.hcl")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c, diags := Parse("collect.hcl", src)
		if (c == nil) != (diags.Err() != nil) {
			t.Errorf("configuration %v, error %v", c, diags.Err())
		}
	})
}
