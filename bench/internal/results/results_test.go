package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "R.md")
	os.WriteFile(path, []byte("a\n<!-- x -->\nold\n<!-- /x -->\nb\n<!-- y -->\n<!-- /y -->\n"), 0o644)
	for name, body := range map[string]string{"x": "new\n\n", "y": "other"} {
		if err := Replace(path, name, body); err != nil {
			t.Fatal(err)
		}
	}
	want := "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n<!-- y -->\nother\n<!-- /y -->\n"
	if got, _ := os.ReadFile(path); string(got) != want {
		t.Errorf("%s", got)
	}
	if err := Replace(path, "z", ""); err == nil {
		t.Error("a section that is not there is replaced")
	}
}

// TestReplaceHere: what this machine has measured stands in front of what others have, once.
func TestReplaceHere(t *testing.T) {
	path, here := filepath.Join(t.TempDir(), "R.md"), "### "+cpuinfo("model name")+"\n\n"
	os.WriteFile(path, []byte("a\n<!-- x -->\n<!-- /x -->\nb\n"), 0o644)
	for _, step := range []struct{ from, to, body, want string }{
		{"", "", "one\n\n", here + "one\n"},
		{here, "### Z80\n\n", "two", here + "two\n\n### Z80\n\none\n"},
		{"<!-- /x", "\n### 6502\n\nold\n<!-- /x", "three\n", here + "three\n\n### Z80\n\none\n\n### 6502\n\nold\n"},
	} {
		text, _ := os.ReadFile(path)
		os.WriteFile(path, []byte(strings.Replace(string(text), step.from, step.to, 1)), 0o644)
		if err := ReplaceHere(path, "x", step.body); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != "a\n<!-- x -->\n"+step.want+"<!-- /x -->\nb\n" {
			t.Errorf("%s", got)
		}
	}
}

func TestSpread(t *testing.T) {
	if s := SpreadOf([]float64{3, 1, 2, 10}); s != (Spread{2.5, 1, 10}) || s.String() != "2.50 (1.00-10.00)" {
		t.Errorf("%+v %v", s, s)
	}
}

func TestTable(t *testing.T) {
	got := Table([][]string{{"", "ns"}, {"µs", "10000"}, {"long", "1"}})
	want := "|      |    ns |\n|------|------:|\n| µs   | 10000 |\n| long |     1 |\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestHeading(t *testing.T) {
	h := Heading()
	for _, part := range []string{"`" + os.Args[0], "commit ", "CPUs", "DPDK ", "go1."} {
		if !strings.Contains(h, part) {
			t.Errorf("%q lacks %q", h, part)
		}
	}
}
