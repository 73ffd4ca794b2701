package cli

import (
	"bytes"
	"testing"
)

// TestPrintable: what does something to a terminal comes as text, however it is cut into writes; all else as it is.
func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\n\tand a line\n": "plain text\n\tand a line\n",
		"Zürich, 東京, é\n":            "Zürich, 東京, é\n",
		"\x1b]0;title\a":             `\x1b]0;title\a`,
		"over\rwritten\b":            `over\rwritten\b`,
		"\u009b31m, \x9b31m":         `\u009b31m, \x9b31m`,
		"a\u202eb\x7f\x00":           `a\u202eb\x7f\x00`,
		"\xff\xc3(":                  `\xff\xc3(`,
	} {
		for size := 1; size <= len(in); size++ {
			var b bytes.Buffer
			w := Printable(&b)
			for rest := []byte(in); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				part := rest[:min(size, len(rest))]
				if n, err := w.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if b.String() != want {
				t.Errorf("%q in writes of %d bytes: %q, want %q", in, size, b.String(), want)
			}
		}
	}
	for colour, want := range map[bool]string{true: red + "DOWN" + plain + `\x1b[32m`, false: `\x1b[31mDOWN\x1b[0m\x1b[32m`} {
		var b bytes.Buffer
		(&printable{w: &b, colour: colour}).Write([]byte(red + "DOWN" + plain + "\x1b[32m"))
		if b.String() != want {
			t.Errorf("colours %v: %q", colour, b.String())
		}
	}
	if got := PrintableText("a\nb\t\xc3"); got != `a\nb\t\xc3` {
		t.Errorf("in a line: %q", got)
	}
}
