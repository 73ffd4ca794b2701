package schema

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"intsink/internal/rounds"
)

// tooMuch is every way to make the HCL parser recurse, n times: without bounds
// each overflows the stack when n is large enough.
func tooMuch(n int) map[string]string {
	r := func(s string) string { return strings.Repeat(s, n) }
	return map[string]string{
		"brackets":      "a = " + r("[") + r("]"),
		"parentheses":   "a = " + r("(") + "1" + r(")"),
		"objects":       "a = " + r("{a=") + "1" + r("}"),
		"unclosed":      "a = " + r("[{("),
		"mismatched":    "a = " + r("[)"),
		"blocks":        r("a {\n") + r("}\n"),
		"calls":         "a = " + r("f(") + r(")"),
		"for":           "a = " + r("[for x in "),
		"for object":    "a = " + r("{for x in "),
		"minus":         "a = " + r("-") + "1",
		"not":           "a = " + r("!") + "true",
		"mixed unary":   "a = " + r("-!") + "1",
		"minus, lines":  "a = (" + r("-\n") + "1)",
		"minus, notes":  "a = " + r("-/**/") + "1",
		"templates":     "a = " + r("\"${") + "1" + r("}\""),
		"heredocs":      "a = " + r("<<A\n${"),
		"if":            "a = \"" + r("%{if x}") + "\"",
		"for template":  "a = \"" + r("%{for x in y}") + "\"",
		"else":          "a = \"%{if x}" + r("%{else}") + "\"",
		"conditions":    "a = 1" + r("?1:1"),
		"in the middle": "a = " + r("1?"),
		"splats":        "a = a" + r("[*]"),
		"namespaces":    "a = a" + r("::a"),
	}
}

func TestTooMuchNesting(t *testing.T) {
	for name, src := range tooMuch(rounds.Of(50_000, 10)) {
		c, d := parse(src)
		if c != nil || len(d.Errors) != 1 || d.Errors[0].Line == 0 || d.Errors[0].Snippet == "" ||
			!strings.Contains(d.Errors[0].Message, "more than 100") {
			t.Errorf("%s: %.500s", name, diagText(d.Errors))
		}
	}
}

// TestLongIsNotDeep: what the parser does not recurse on is not bounded, and ends
// in the usual diagnostics.
func TestLongIsNotDeep(t *testing.T) {
	r := func(s string) string { return strings.Repeat(s, rounds.Of(50_000, 10)) }
	for name, src := range map[string]string{
		"binary":     "a = 1" + r("+1-1"),
		"traversal":  "a = a" + r(".b"),
		"index":      "a = a" + r("[b]"),
		"templates":  "a = \"" + r("${a}") + "\"",
		"list":       "a = [" + r("[],{},") + "]",
		"attributes": r("a = 1\n"),
		"quotes":     "a = " + r("\"\n"),
		"digits":     "a = " + r("1"),
		"controls":   "a = 1" + r("\x18"),
		"hex":        "a = 0x1F" + r("\x18"),
	} {
		t.Run(name, func(t *testing.T) {
			c, d := parse(src)
			if c != nil || len(d.Errors) == 0 || strings.Contains(diagText(d.Errors), "more than 100 ") {
				t.Errorf("%s: %.500s", name, diagText(d.Errors))
			}
			if len(d.Errors) > maxKept {
				t.Errorf("%s: %d errors", name, len(d.Errors))
			}
		})
	}
}

// TestNoText: of a file that is no text one error is said, and no more.
func TestNoText(t *testing.T) {
	for src, want := range map[string]string{
		"\x7fELF\x02\x01\x01\x00\x00\xff":           "test.hcl: error: this is no text file: a byte of 0 stands at offset 7; a configuration is HCL, in UTF-8",
		"n\x00o\x00d\x00e\x00":                      "test.hcl: error: this is no text file: a byte of 0 stands at offset 1; a configuration is HCL, in UTF-8",
		"\x89PNG\r\n":                               "test.hcl:1:1: error: byte 0x89 is no UTF-8; save the configuration as UTF-8 text",
		"server {\n}\n# F\xfcr alle\nwatch \"x\" {": "test.hcl:3:4: error: byte 0xfc is no UTF-8; save the configuration as UTF-8 text",
	} {
		t.Run(src, func(t *testing.T) {
			_, d := parse(src)
			if got, _, _ := strings.Cut(diagText(d.Errors), "\n"); got != want || len(d.Errors) != 1 || len(d.Warnings) != 0 {
				t.Errorf("%q:\n%s\nwant\n%s", src, diagText(d.Errors), want)
			}
		})
	}
}

// TestFirstErrorsAreShown, and how many more there are, exactly.
func TestFirstErrorsAreShown(t *testing.T) {
	for n, want := range map[int]string{
		100: "", 101: "test.hcl: error: and 1 more: mend these first\n", 5000: "test.hcl: error: and 4900 more: mend these first\n",
	} {
		_, d := parse(strings.Repeat("colour {}\n", n))
		var b strings.Builder
		d.WriteTo(&b)
		shown := b.String()
		if d.Count(Error) != n || !strings.HasSuffix(shown, "\n"+want) || strings.Count(shown, "test.hcl:") != min(n, 101) || d.Err().Error()+"\n" != shown {
			t.Errorf("%d errors, counted %d:\n%s", n, d.Count(Error), b.String())
		}
	}
}

// TestNestingOfGoodFiles: the bound is far from what a configuration needs.
func TestNestingOfGoodFiles(t *testing.T) {
	if c, d := parse("server { names = " + strings.Repeat("(", 90) + "[]" + strings.Repeat(")", 90) + " }\n"); c == nil {
		t.Error(d.Err())
	}
}

func TestTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.hcl")
	src := "server {}\n#" + strings.Repeat("x", maxSource)
	if err := os.WriteFile(path, []byte(src[:maxSource]), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, d := load(path); c == nil {
		t.Errorf("1 MiB: %v", d.Err())
	}
	if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{path: "larger than 1024 KiB", "/dev/zero": "not a regular file", fifo: "not a regular file"} {
		c, d := load(path)
		if c != nil || len(d.Errors) != 1 || !strings.Contains(d.Errors[0].Message, want) {
			t.Errorf("%s: %.500s", path, diagText(d.Errors))
		}
	}
}

// FuzzParse: any file is either read or reported as wrong. A file that was read is written so
// that it reads the same again.
func FuzzParse(f *testing.F) {
	for _, n := range []int{20, 1000} {
		for _, src := range tooMuch(n) {
			f.Add(src)
		}
	}
	f.Add(everything)
	f.Fuzz(func(t *testing.T, src string) {
		c, d := parse(src)
		if (c == nil) != (d.Err() != nil) {
			t.Fatalf("read: %v, error %v", c != nil, d.Err())
		}
		if c == nil {
			return
		}
		again, d := parse(string(c.dump()))
		if again == nil || !reflect.DeepEqual(c, again) {
			t.Fatalf("%v: the dump reads as another:\n%s", d.Err(), c.dump())
		}
	})
}

// TestKeptAreTheFirst of all errors, in whatever order they are found, each with its own snippet. Of those behind
// them no snippet is drawn.
func TestKeptAreTheFirst(t *testing.T) {
	const n = 10 * maxKept
	d, drawn := &Diagnostics{}, 0
	add := func(line int) {
		d.add(Diagnostic{Line: line}, func() string { drawn++; return fmt.Sprint("line ", line) })
	}
	for _, line := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		add(line)
	}
	d.cut(Error)
	if len(d.Errors) != maxKept || d.Count(Error) != n {
		t.Fatalf("%d kept of %d, want %d of %d", len(d.Errors), d.Count(Error), maxKept, n)
	}
	for i, x := range d.Errors {
		if x.Line != i || x.Snippet != fmt.Sprint("line ", i) {
			t.Errorf("error %d: %+v", i, x)
		}
	}
	if drawn > n/2 {
		t.Errorf("%d snippets were drawn of %d errors at random", drawn, n)
	}
	drawn = 0
	for line := range n {
		add(n + line)
	}
	if drawn != 0 || d.Count(Error) != 2*n {
		t.Errorf("behind all others %d snippets were drawn; %d errors, want %d", drawn, d.Count(Error), 2*n)
	}
}
