package conf

import (
	"errors"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// withoutHosts is c without the names of collectors, which a dump has as addresses.
func withoutHosts(c *Config) *Config {
	other := *c
	other.Collectors = slices.Clone(c.Collectors)
	for i := range other.Collectors {
		other.Collectors[i].Host = ""
	}
	return &other
}

// fakeMachine has 8 CPUs and a name server that knows three names.
func fakeMachine() machine {
	hosts := map[string][]netip.Addr{
		"collector.example": {netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("2001:db8::7")},
		"six.example":       {netip.MustParseAddr("2001:db8::6")},
		"nobody.example":    {netip.MustParseAddr("0.0.0.0")},
	}
	return machine{
		cpus: []int{0, 1, 2, 3, 4, 5, 6, 7},
		lookup: func(host string) ([]netip.Addr, error) {
			if a, ok := hosts[host]; ok {
				return a, nil
			}
			return nil, errors.New("no such host")
		},
	}
}

// readTestFile parses a file of this package under the name without its folder.
func readTestFile(t *testing.T, path string) (*Config, *Diagnostics) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(filepath.Base(path), src, fakeMachine())
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if got == "" {
			os.Remove(path)
		} else if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil && !(os.IsNotExist(err) && got == "") {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: no files (%v)", pattern, err)
	}
	return list
}

func diagText(all []Diagnostic) string {
	var b strings.Builder
	for _, d := range all {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}

func TestGood(t *testing.T) {
	for _, path := range append(files(t, "testdata/good/*.hcl"), files(t, "examples/*.hcl")...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, d := readTestFile(t, path)
			if c == nil {
				t.Fatalf("not valid:\n%v", d.Err())
			}
			if d.Err() != nil {
				t.Errorf("a Config and an error: %v", d.Err())
			}
			again, d2 := parse("dump", c.Dump(), fakeMachine())
			if again == nil {
				t.Fatalf("its dump is not valid: %v\n%s", d2.Err(), c.Dump())
			}
			if !reflect.DeepEqual(withoutHosts(c), withoutHosts(again)) {
				t.Errorf("the dump parses to another Config:\n%s", cmp.Diff(string(c.Dump()), string(again.Dump())))
			}
			sameWarnings(t, d, d2)
			if strings.HasPrefix(path, "examples") {
				return
			}
			base := strings.TrimSuffix(path, ".hcl")
			compareGolden(t, base+".dump", string(c.Dump()))
			compareGolden(t, base+".warnings", diagText(d.Warnings))
		})
	}
}

// sameWarnings: a dump gives no warning that its original did not give.
func sameWarnings(t *testing.T, original, dump *Diagnostics) {
	t.Helper()
	for _, x := range dump.Warnings {
		if !slices.ContainsFunc(original.Warnings, func(o Diagnostic) bool { return withoutSource(o.Message) == withoutSource(x.Message) }) {
			t.Errorf("the dump has a warning of its own:\n%v", x)
		}
	}
}

// withoutSource takes out of a message how the value was written: a dump writes "\u0061" as "a".
func withoutSource(message string) string {
	where, rest, ok := strings.Cut(message, " = ")
	if !ok {
		return message
	}
	return where + rest[strings.LastIndex(rest, ": ")+1:]
}

func TestBad(t *testing.T) {
	for _, path := range files(t, "testdata/bad/*.hcl") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, d := readTestFile(t, path)
			if c != nil || d.Err() == nil {
				t.Error("taken for valid")
			}
			compareGolden(t, strings.TrimSuffix(path, ".hcl")+".txt", diagText(d.Errors)+diagText(d.Warnings))
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.hcl", "testdata/bad/*.hcl", "examples/*.hcl"} {
		list, _ := filepath.Glob(pattern)
		for _, path := range list {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	m := fakeMachine()
	f.Fuzz(func(t *testing.T, src []byte) {
		c, d := parse("fuzz.hcl", src, m)
		if (c == nil) != (d.Err() != nil) {
			t.Fatalf("config %v, error %v", c != nil, d.Err())
		}
		if c == nil {
			return
		}
		again, d2 := parse("dump.hcl", c.Dump(), m)
		if again == nil {
			t.Fatalf("the dump is not valid: %v\n%s", d2.Err(), c.Dump())
		}
		if !reflect.DeepEqual(withoutHosts(c), withoutHosts(again)) {
			t.Fatalf("the dump parses to another Config:\n%s", cmp.Diff(string(c.Dump()), string(again.Dump())))
		}
		sameWarnings(t, d, d2)
	})
}
