// Diagnostics: collects errors and warnings with their place, sorts and limits them, prints
// them with the underlined source line.

package schema

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Severity of a Diagnostic.
type Severity uint8

const (
	Error   Severity = iota // the configuration cannot be used
	Warning                 // it can, but probably does not do what its author thinks
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one fault of a configuration, or one doubt about it.
type Diagnostic struct {
	Severity Severity
	File     string
	Line     int // from 1; 0: about the file as a whole
	Column   int // from 1, in characters
	Message  string
	Snippet  string // the source line with the place underlined, "" where there is none
}

// String is "file:line:column: severity: message" and the snippet on the lines
// after it, without a newline at the end.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(d.File)
	if d.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", d.Line, d.Column)
	}
	fmt.Fprintf(&b, ": %s: %s", d.Severity, d.Message)
	if d.Snippet != "" {
		b.WriteString("\n" + d.Snippet)
	}
	return b.String()
}

// Diagnostics are the errors and warnings of a configuration in the order of its file, at most
// maxKept of each; Count counts all of them.
type Diagnostics struct {
	Errors, Warnings []Diagnostic
	SHA256           string // of what was read, of several files one behind the other, in hexadecimal; "" where nothing could be
	left             [2]int // out of either, by Severity

	order map[string]int // of files; what is about the configuration as a whole comes first
}

const maxKept = 100

// Count returns how many there are.
func (d *Diagnostics) Count(s Severity) int {
	if s == Error {
		return len(d.Errors) + d.left[Error]
	}
	return len(d.Warnings) + d.left[Warning]
}

// Err is nil when there are no errors (warnings do not count); otherwise its
// text is the errors with their snippets, and how many more there are.
func (d *Diagnostics) Err() error {
	if len(d.Errors) == 0 {
		return nil
	}
	return errors.New(strings.TrimSuffix(d.shown(Error), "\n"))
}

// WriteTo writes the errors, then the warnings, one after the other, and how many
// more there are.
func (d *Diagnostics) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, d.shown(Error)+d.shown(Warning))
	return int64(n), err
}

// WithoutLines are the same faults without the lines of the file, which may have secrets.
func (d *Diagnostics) WithoutLines() *Diagnostics {
	c := *d
	c.Errors, c.Warnings = slices.Clone(d.Errors), slices.Clone(d.Warnings)
	for _, list := range [][]Diagnostic{c.Errors, c.Warnings} {
		for i := range list {
			list[i].Snippet = ""
		}
	}
	return &c
}

func (d *Diagnostics) shown(s Severity) string {
	list := d.Errors
	if s == Warning {
		list = d.Warnings
	}
	if d.left[s] == 0 {
		return join(list)
	}
	text := fmt.Sprintf("and %d more: mend these first", d.left[s])
	return join(list) + Diagnostic{Severity: s, File: list[0].File, Message: text}.String() + "\n"
}

func join(list []Diagnostic) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}

// add takes x over, with the snippet that draw makes; nil: it has none. A file may have a million errors: those
// that come behind maxKept others are only counted.
func (d *Diagnostics) add(x Diagnostic, draw func() string) {
	list := d.of(x.Severity)
	if d.left[x.Severity] > 0 && d.compare(x, (*list)[maxKept-1]) >= 0 {
		d.left[x.Severity]++
		return
	}
	if draw != nil {
		x.Snippet = draw()
	}
	if *list = append(*list, x); len(*list) >= 2*maxKept {
		d.cut(x.Severity)
	}
}

func (d *Diagnostics) of(s Severity) *[]Diagnostic {
	if s == Error {
		return &d.Errors
	}
	return &d.Warnings
}

// compare orders by place.
func (d *Diagnostics) compare(a, b Diagnostic) int {
	return cmp.Or(cmp.Compare(d.order[a.File], d.order[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
}

// cut sorts the errors, or the warnings, and leaves the first maxKept.
func (d *Diagnostics) cut(s Severity) {
	list := d.of(s)
	slices.SortStableFunc(*list, d.compare)
	if left := len(*list) - maxKept; left > 0 {
		*list = (*list)[:maxKept]
		d.left[s] += left
	}
}

// snippet shows line, which is number n (from 1), the characters [column, end)
// underlined.
func snippet(line []byte, n, column, end int) string {
	line = line[:min(len(line), 4*maxSnippet)] // a character has up to 4 bytes
	text := []rune(strings.TrimRight(strings.ToValidUTF8(string(line), "?"), "\r"))
	if len(text) > maxSnippet {
		text = text[:maxSnippet]
	}
	for i, r := range text {
		if r < ' ' {
			text[i] = ' ' // tabs would shift the underline, and controls the terminal
		}
	}
	column = min(max(column, 1), len(text)+1)
	width := max(min(end, len(text)+1)-column, 1)
	return fmt.Sprintf("%5d | %s\n      | %s%s", n, string(text),
		strings.Repeat(" ", column-1), strings.Repeat("^", width))
}

// maxSnippet characters of a source line are shown.
const maxSnippet = 160
