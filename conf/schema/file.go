// File: what reading and checking share: keeps the place of each field; ErrorAt, WarnAt;
// rewords syntax errors of HCL.

package schema

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// File is what reading and checking one configuration share: one file, or several that are
// read as if they were one.
type File struct {
	name    string // of the file, or of the folder of the files
	sources []source
	out     *Diagnostics
	places  map[any]hcl.Range // by pointer to a field or block, or element of a list
	failed  map[any]bool      // fields with a wrong value
	unknown []hcl.Range       // of blocks with an attribute that nobody knows
	zeros   []hcl.Range       // of numbers that are none, told, and read as 0, so that all else can be read

	// QuotedHex names the attributes that take hexadecimal digits, in quotes, and how many they
	// need at least. All others take decimal numbers.
	QuotedHex map[string]int

	// Env looks up what a value such as "${env.NAME}" stands for: os.LookupEnv, unless set
	// otherwise before Parse.
	Env func(name string) (value string, ok bool)
}

// element is the key of the place of one element of a list.
type element struct {
	list any // pointer to the slice
	i    int
}

// ElementOf returns the key of element i of a list, which is a pointer to the slice.
func ElementOf(list any, i int) any { return element{list, i} }

// Parse reads the file into the fields of the schema that visit walks; false: nothing was
// read, because the file is no HCL, or more than the parser may be given.
func (d *File) Parse(visit func(Visitor)) bool {
	if d.Env == nil {
		d.Env = os.LookupEnv
	}
	var bodies []*hclsyntax.Body
	for i := range d.sources {
		if b := d.parse(&d.sources[i]); b != nil {
			bodies = append(bodies, b)
		}
	}
	if len(bodies) < len(d.sources) {
		return false
	}
	root := d.joined(bodies)
	visit(root)
	root.finish()
	return true
}

// parse reads the syntax of one file; nil: it has faults. Further checks of an incomplete tree
// would mislead. Where all that is wrong are numbers that are none, such as 8k, the tree is complete without them.
func (d *File) parse(s *source) *hclsyntax.Body {
	if !d.bounded(s) {
		return nil
	}
	parsed, diags := hclsyntax.ParseConfig(s.text, s.name, hcl.InitialPos)
	if diags.HasErrors() {
		numbers := d.badNumbers(s)
		if d.syntax(s, numbers, diags) {
			return nil
		}
		text := slices.Clone(s.text)
		for _, n := range numbers {
			copy(text[n.at.Start.Byte:], "0"+strings.Repeat(" ", n.at.End.Byte-n.at.Start.Byte-1))
			d.zeros = append(d.zeros, n.at)
		}
		if parsed, diags = hclsyntax.ParseConfig(text, s.name, hcl.InitialPos); diags.HasErrors() {
			return nil
		}
	}
	return parsed.Body.(*hclsyntax.Body)
}

// Failing reports whether an error was reported.
func (d *File) Failing() bool { return len(d.out.Errors) > 0 }

// Done returns the errors and warnings so far, in the order of the file.
func (d *File) Done() *Diagnostics {
	d.out.cut(Error)
	d.out.cut(Warning)
	return d.out
}

// place remembers where the thing behind key stands.
func (d *File) place(key any, r hcl.Range) {
	d.places[key] = r
	if d.isZero(r) {
		d.failed[key] = true
	}
}

// isZero reports whether a number that is none stands within r.
func (d *File) isZero(r hcl.Range) bool {
	return slices.ContainsFunc(d.zeros, func(z hcl.Range) bool {
		return z.Filename == r.Filename && r.Start.Byte <= z.Start.Byte && z.Start.Byte < r.End.Byte
	})
}

// at returns the place of the first of keys that is in the file.
func (d *File) at(keys ...any) hcl.Range {
	for _, k := range keys {
		if r, ok := d.places[k]; ok {
			return r
		}
	}
	return hcl.Range{}
}

// Has reports whether the thing behind key is in the file.
func (d *File) Has(key any) bool {
	_, ok := d.places[key]
	return ok
}

// Misspelt reports whether the block behind key has an attribute that nobody knows: what seems to be missing in it may be that.
func (d *File) Misspelt(key any) bool { return slices.Contains(d.unknown, d.at(key)) }

// Wrong reports whether the thing behind key has a value that could not be read, or that a check
// refused, which is reported already.
func (d *File) Wrong(key any) bool { return d.failed[key] }

// Refuse marks the thing behind key as wrong: a check of its value has reported it.
func (d *File) Refuse(key any) { d.failed[key] = true }

// Good reports whether the thing behind key is in the file and its value could be read.
func (d *File) Good(key any) bool { return d.Has(key) && !d.failed[key] }

// report adds a diagnostic; the zero Range means the configuration as a whole.
func (d *File) report(s Severity, r hcl.Range, format string, args ...any) {
	if d.isZero(r) {
		return // what is wrong there is told
	}
	x := Diagnostic{Severity: s, File: d.name, Message: cutText(fmt.Sprintf(format, args...), maxMessage)}
	var draw func() string
	if from := d.source(r); from != nil && r.Start.Line > 0 {
		x.File = from.name
		x.Line, x.Column = r.Start.Line, r.Start.Column
		end := r.End.Column
		if r.End.Line > r.Start.Line {
			end = maxSnippet + 1 // to the end of the line
		}
		if x.Line <= len(from.lines) {
			draw = func() string { return snippet(from.lines[x.Line-1], x.Line, x.Column, end) }
		}
	}
	d.out.add(x, draw)
}

// maxMessage is the longest message, whatever the file has.
const maxMessage = 1000

// ErrorAt reports an error at the first of keys that is in the file. It reports nothing if the
// value of one of keys could not be read or was refused: that is reported already, and what
// follows from its field is not what the file means.
func (d *File) ErrorAt(keys []any, format string, args ...any) {
	d.ReportAt(Error, keys, format, args...)
}

// WarnAt is ErrorAt with severity Warning.
func (d *File) WarnAt(keys []any, format string, args ...any) {
	d.ReportAt(Warning, keys, format, args...)
}

// ReportAt is ErrorAt or WarnAt.
func (d *File) ReportAt(s Severity, keys []any, format string, args ...any) {
	if !slices.ContainsFunc(keys, func(k any) bool { return d.failed[k] }) {
		d.report(s, d.at(keys...), format, args...)
	}
}

// syntax takes over the diagnostics of the HCL parser about one file. Where a line has a number that
// HCL does not know, that is what is said of it.
func (d *File) syntax(s *source, numbers []badNumber, diags hcl.Diagnostics) (more bool) {
	told := map[int]bool{} // lines
	for _, n := range numbers {
		told[n.at.Start.Line] = true
		d.report(Error, n.at, "%s", n.text)
	}
	for _, x := range diags {
		if x.Severity != hcl.DiagError {
			continue
		}
		r := hcl.Range{}
		if x.Subject != nil {
			r = *x.Subject
		}
		if told[r.Start.Line] {
			continue
		}
		more = true
		if text := ownWords(x); text != "" {
			d.report(Error, r, "%s", text)
			continue
		}
		words := strings.Fields(x.Detail)
		for i := range words {
			words[i] = Short(words[i])
		}
		d.report(Error, r, "%s: %s", x.Summary, strings.Join(words, " "))
	}
	return more
}

// ownWords says what to do about a fault of a block on one line, which people write most
// often; "" of other faults.
func ownWords(x *hcl.Diagnostic) string {
	switch {
	case x.Summary == "Argument definition required" && strings.HasPrefix(x.Detail, "A single-line block"):
		return "a block inside a block stands on lines of its own: break the line after the outer { and before the outer }"
	case x.Summary == "Invalid single-argument block definition" && strings.HasPrefix(x.Detail, "An argument"):
		return "the block begins with an attribute on the line of its {: break the line after the {, or close the block on this line"
	case x.Summary == "Invalid single-argument block definition":
		return "a block on one line holds one attribute: write each on a line of its own, without a comma between them, and the } on the line after the last"
	case x.Summary == "Invalid character" && strings.HasPrefix(x.Detail, `The ";"`):
		return "; separates nothing here: write each attribute on a line of its own"
	}
	return ""
}
