// Screen: wraps text at the width of the terminal that it is written to, and colours what is wrong.

package cli

import (
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"intsink/conf"
)

// Screen is the terminal that text for people goes to. Its zero value is a file or a pipe, which takes text as it is.
type Screen struct {
	Width  int // characters of a line; 0: no bound
	Colour bool
}

// narrowest is the width that text is wrapped for at least.
const narrowest = 40

// ScreenOf returns the screen of w. Where NO_COLOR is set, or TERM is dumb, it has no colour.
func ScreenOf(w io.Writer) Screen {
	if p, ok := w.(*printable); ok {
		w = p.w
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Screen{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width == 0 {
		width = 80
	}
	return Screen{max(width, narrowest), os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// PageOf is the screen of w, or one of 80 columns where w is none: for sentences, which nobody reads in longer lines.
func PageOf(w io.Writer) Screen {
	s := ScreenOf(w)
	if s.Width == 0 {
		s.Width = 80
	}
	return s
}

// wrong are the words that say that something is.
var wrong = regexp.MustCompile(`\b(DOWN|FAULT|NOT READY|congested|loses|degraded)\b:?|\berror:`)

const red, plain = "\x1b[31m", "\x1b[0m"

// Paint colours the words of a line that say that something is wrong.
func (s Screen) Paint(line string) string {
	if !s.Colour {
		return line
	}
	return wrong.ReplaceAllString(line, red+"$0"+plain)
}

// Diagnose writes the diagnostics of a configuration, for people.
func Diagnose(w io.Writer, diags *conf.Diagnostics) {
	var b strings.Builder
	diags.WriteTo(&b)
	io.WriteString(Printable(w), ScreenOf(w).Paint(b.String()))
}

// Text wraps lines at words, and paints them. What follows a line's indent and first words, up to two spaces, is aligned in the
// lines that it takes. A command, behind "> ", stays in one line.
func (s Screen) Text(text string) string {
	if s.Width == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		indent := hanging(line)
		for utf8.RuneCountInString(line) > s.Width && !strings.HasPrefix(strings.TrimSpace(line), "> ") {
			at := strings.LastIndexByte(string([]rune(line)[:s.Width+1]), ' ')
			if at <= indent {
				break // a word as long as a line
			}
			b.WriteString(s.Paint(strings.TrimRight(line[:at], " ")) + "\n")
			line = strings.Repeat(" ", indent) + strings.TrimLeft(line[at:], " ")
		}
		b.WriteString(s.Paint(line) + "\n")
	}
	return b.String()
}

// hanging returns where the text of a line begins: behind its indent, "- ", and a first column.
func hanging(line string) int {
	text := strings.TrimLeft(line, " ")
	at := len(line) - len(text)
	if strings.HasPrefix(text, "- ") {
		return at + 2
	}
	if i := strings.Index(text, "  "); i > 0 && i < 16 {
		return at + i + len(text[i:]) - len(strings.TrimLeft(text[i:], " "))
	}
	return at + 2
}
