// Printable: a writer for terminals, which get text of others as text.

package cli

import (
	"bytes"
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Printable returns w for text in which names of others may stand, such as those that a sink answers: characters that do
// something to a terminal, or to the order of a line, come to w as \x1b and the like.
// The colours of a Screen pass, where w shows them.
func Printable(w io.Writer) io.Writer { return &printable{w: w, colour: ScreenOf(w).Colour} }

// PrintableText is s as Printable writes it, in one line.
func PrintableText(s string) string {
	var b bytes.Buffer
	(&printable{w: &b, line: true}).Write([]byte(s))
	return b.String()
}

type printable struct {
	w      io.Writer
	colour bool   // of a Screen passes
	line   bool   // newlines and tabs are none, either
	rest   []byte // the beginning of a character, whose end the next Write has
}

// Write implements io.Writer.
func (p *printable) Write(b []byte) (int, error) {
	if len(p.rest) == 0 && p.plain(b) {
		return p.w.Write(b)
	}
	in, out := append(p.rest, b...), make([]byte, 0, len(b)+16)
	for len(in) > 0 {
		r, size := utf8.DecodeRune(in)
		switch paint := p.paint(in); {
		case paint > 0:
			size = paint
			out = append(out, in[:size]...)
		case r == utf8.RuneError && size == 1 && !p.line && !utf8.FullRune(in):
			p.rest = bytes.Clone(in)
			in = nil
			continue
		case r == utf8.RuneError && size == 1:
			out = append(out, `\x`+strconv.FormatUint(uint64(in[0]), 16)...)
		case p.takes(r):
			out = append(out, in[:size]...)
		default:
			quoted := strconv.AppendQuoteRuneToASCII(nil, r)
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		in = in[size:]
		p.rest = nil
	}
	if _, err := p.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// paint returns the length of the colour that b begins with, 0 where it begins with none that passes.
func (p *printable) paint(b []byte) int {
	for _, c := range []string{red, plain} {
		if p.colour && bytes.HasPrefix(b, []byte(c)) {
			return len(c)
		}
	}
	return 0
}

// takes tells whether r is written as it is.
func (p *printable) takes(r rune) bool {
	return unicode.IsGraphic(r) || (r == '\n' || r == '\t') && !p.line
}

// plain tells whether b has nothing but what stands on keys: most text.
func (p *printable) plain(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && (c != '\n' && c != '\t' || p.line) {
			return false
		}
	}
	return true
}
