package schema

import (
	"strings"
	"testing"

	"intsink/internal/rounds"
)

// TestScaled: the whole number that a suffix or a unit makes of another one, "" where it makes none. Only
// an attribute whose name is a unit takes that unit.
func TestScaled(t *testing.T) {
	for _, c := range []struct{ attribute, text, want string }{
		{"depth", "10M", "10000000"},
		{"depth", "1.5G", "1500000000"},
		{"depth", "0.5k", "500"},
		{"depth", "2 K", "2000"},
		{"depth", "1.2345k", ""},
		{"depth", "10", ""},
		{"depth", "10Mbit", ""},
		{"depth", "10m", ""},
		{"depth", "10KiB", ""},
		{"depth", "M", ""},
		{"depth", "-1k", ""},
		{"depth", "9223373T", ""},
		{"depth", strings.Repeat("1", 50) + "k", ""},
		{"bits", "10Mbit", "10000000"},
		{"bits", "10 Mbit/s", "10000000"},
		{"bits", "64kbps", "64000"},
		{"bits", "8bits/s", "8"},
		{"bits", "10Mb", ""},
		{"bits", "10MB", ""},
		{"bits", "0.5bit", ""},
		{"packets", "20kpps", "20000"},
		{"packets", "20kbps", ""},
	} {
		if got, ok := scaled(c.attribute, c.text); got != c.want || ok != (got != "") {
			t.Errorf("%s = %s: %q, %v; want %q", c.attribute, c.text, got, ok, c.want)
		}
	}
}

// TestLeadingZero: what a number is without the zeros in front of it, "" where it has none.
func TestLeadingZero(t *testing.T) {
	for number, want := range map[string]string{
		"0": "", "10": "", "0.5": "", "0e3": "", "0E3": "", "1.05": "", `"010"`: "", "?": "", "": "",
		"010": "10", "00": "0", "000": "0", "00.5": "0.5", "01.5": "1.5", "01e3": "1e3", "00e3": "0e3",
	} {
		if got, ok := withoutZero(number); got != want || ok != (got != "") {
			t.Errorf("%q: %q, %v; want %q", number, got, ok, want)
		}
	}
}

// TestBadNumbers: what HCL takes for faults of its syntax is told as the number that it is, alone of its
// line; comments and text that have such numbers are left alone.
func TestBadNumbers(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []string // errors, without snippets
	}{
		{"server { workers = 0x10 }", []string{"1:20: error: numbers are decimal: write 16 for 0x10"}},
		{"server {\n  workers = 1k\n  colour = 1\n  ports = [80, 8k, 99999999]\n}", []string{
			"2:13: error: a number has no suffix: write 1000 for 1k", "3:3: error: server: unknown attribute colour; known here: names, ports, workers, queue, share, strict, mode, parts, wait, address, allowed, mac, key, limit, window",
			"4:16: error: a number has no suffix: write 8000 for 8k", "4:20: error: server: ports = 99999999: accepted are ports or ranges of them, from 1 to 65535"}},
		{"server { key = 0x1F }", []string{`1:16: error: key takes hexadecimal digits in quotes: write "0x000000000000001F" for 0x1F`}},
		{"server { key = 0x01020304050607080 }", []string{`1:16: error: a number has no suffix, and text stands in quotes: write "0x01020304050607080"`}},
		{"server { workers = 1k }", []string{"1:20: error: a number has no suffix: write 1000 for 1k"}},
		{"server { wait = 30s }", []string{`1:17: error: a number has no suffix, and a duration stands in quotes: write "30s"`}},
		{"server { mac = 02:00:5e:00:53:01 }", []string{`1:16: error: a number has no suffix, and text stands in quotes: write "02:00:5e:00:53:01"`}},
		{"server {\n  ports = [80, 0x50, 8k]\n  workers = 2k\n}", []string{
			"2:16: error: numbers are decimal: write 80 for 0x50", "2:22: error: a number has no suffix: write 8000 for 8k", "3:13: error: a number has no suffix: write 2000 for 2k"}},
		{"server { mode = \"10M\" share = 1 } # 10M", []string{"1:23: error: a block on one line holds one attribute: write each on a line of its own, without a comma between them, and the } on the line after the last"}},
		{"server { address = 2001:0db8::1 }", []string{`1:20: error: a number has no suffix, and text stands in quotes: write "2001:0db8::1"`}},
		{"server {\n  name = \"192.0.2.1:5000\n  wait = \"10us\"\n  workers = 8k\n}", nil}, // HCL says which quote is not closed
		{"a = " + strings.Repeat("1x ", rounds.Of(50_000, 10)), nil},
	} {
		f := New("test.hcl", []byte(c.src))
		f.QuotedHex = map[string]int{"key": 16}
		_, d := read(f)
		if c.want == nil && d.Count(Error) > 0 {
			if text := d.Err().Error(); strings.Contains(text, "10us") && strings.Contains(text, "has no suffix") {
				t.Errorf("%.60s: of text in quotes: %s", c.src, text)
			}
			continue
		}
		var got []string
		if c.want == nil {
			t.Errorf("%.60s: no error", c.src)
		}
		for _, x := range d.Errors {
			x.Snippet = ""
			got = append(got, strings.TrimPrefix(x.String(), "test.hcl:"))
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%.60s:\n%s\nwant\n%s", c.src, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
