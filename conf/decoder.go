package conf

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// decoder is what reading and checking one file share.
type decoder struct {
	file       string
	src        []byte
	lines      [][]byte // of src
	out        *Diagnostics
	places     map[any]hcl.Range // by pointer to a field or block, or element of a list
	failed     map[any]bool      // fields that are in the file with a wrong value
	unresolved []unresolved
}

// element is the key of the place of one element of a list.
type element struct {
	list any // pointer to the slice
	i    int
}

func newDecoder(file string, src []byte) *decoder {
	return &decoder{
		file: file, src: src, lines: bytes.Split(src, []byte("\n")), out: &Diagnostics{},
		places: map[any]hcl.Range{}, failed: map[any]bool{},
	}
}

func (d *decoder) done() *Diagnostics {
	d.out.sort()
	d.out.cut()
	return d.out
}

// place remembers where the thing behind key stands.
func (d *decoder) place(key any, r hcl.Range) { d.places[key] = r }

// at is the place of the first of keys that is in the file.
func (d *decoder) at(keys ...any) hcl.Range {
	for _, k := range keys {
		if r, ok := d.places[k]; ok {
			return r
		}
	}
	return hcl.Range{}
}

// has: the thing behind key is in the file.
func (d *decoder) has(key any) bool {
	_, ok := d.places[key]
	return ok
}

// good: it is, and its value could be read.
func (d *decoder) good(key any) bool { return d.has(key) && !d.failed[key] }

// report adds a diagnostic; the zero Range means the file as a whole.
func (d *decoder) report(s Severity, r hcl.Range, format string, args ...any) {
	x := Diagnostic{Severity: s, File: d.file, Message: cutText(fmt.Sprintf(format, args...), maxMessage)}
	if r.Start.Line > 0 {
		x.Line, x.Column = r.Start.Line, r.Start.Column
		end := r.End.Column
		if r.End.Line > r.Start.Line {
			end = maxSnippet + 1 // to the end of the line
		}
		if x.Line <= len(d.lines) {
			x.Snippet = snippet(d.lines[x.Line-1], x.Line, x.Column, end)
		}
	}
	d.out.add(x)
}

// maxMessage is the longest message, whatever the file has.
const maxMessage = 1000

// errorAt and warnAt point at the first of keys that is in the file. They say
// nothing where the value of one of keys could not be read: that is reported
// already, and its field still holds the default.
func (d *decoder) errorAt(keys []any, format string, args ...any) {
	d.reportAt(Error, keys, format, args...)
}

func (d *decoder) warnAt(keys []any, format string, args ...any) {
	d.reportAt(Warning, keys, format, args...)
}

func (d *decoder) reportAt(s Severity, keys []any, format string, args ...any) {
	if !slices.ContainsFunc(keys, func(k any) bool { return d.failed[k] }) {
		d.report(s, d.at(keys...), format, args...)
	}
}

// syntax takes over the diagnostics of the HCL parser.
func (d *decoder) syntax(diags hcl.Diagnostics) {
	for _, x := range diags {
		if x.Severity != hcl.DiagError {
			continue
		}
		r := hcl.Range{}
		if x.Subject != nil {
			r = *x.Subject
		}
		if at, text, ok := d.hexNumber(r); ok {
			d.report(Error, at, "%s", text)
			continue
		}
		if x.Summary == "Argument definition required" && strings.HasPrefix(x.Detail, "A single-line block") {
			d.report(Error, r, "a block inside a block stands on lines of its own: break the line after the outer { and before the outer }")
			continue
		}
		words := strings.Fields(x.Detail)
		for i := range words {
			words[i] = short(words[i])
		}
		d.report(Error, r, "%s: %s", x.Summary, strings.Join(words, " "))
	}
}

// hexadecimal finds a number such as 0x1F on the right of an equals sign, or in a list.
var hexadecimal = regexp.MustCompile(`[=\[,]\s*(0[xX]([0-9a-fA-F]{1,16}))\b`)

// hexNumber tells whether the line of a syntax error has a hexadecimal number, which
// HCL does not know, where it stands, and what to write for it.
func (d *decoder) hexNumber(r hcl.Range) (at hcl.Range, text string, ok bool) {
	if r.Start.Line < 1 || r.Start.Line > len(d.lines) {
		return r, "", false
	}
	line := d.lines[r.Start.Line-1]
	m := hexadecimal.FindSubmatchIndex(line)
	if m == nil {
		return r, "", false
	}
	n, err := strconv.ParseUint(string(line[m[4]:m[5]]), 16, 64)
	if err != nil {
		return r, "", false
	}
	at = r
	at.Start.Column = utf8.RuneCount(line[:m[2]]) + 1
	at.End.Line, at.End.Column = at.Start.Line, at.Start.Column+m[3]-m[2]
	return at, fmt.Sprintf("numbers are decimal: write %d for %s; a probe marker is hexadecimal, in quotes", n, line[m[2]:m[3]]), true
}
