// reader, the visitor that fills fields from HCL: attributes, blocks, labels; reports
// unknown and repeated names.

package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// reader is the visitor that fills one block's fields from the file.
type reader struct {
	d     *File
	path  string // "int.domain"; "" for the file
	what  string // `domain "ts"`, for messages; "" for the file
	open  hcl.Range
	attrs map[string]attribute
	inner []*hclsyntax.Block

	knownAttrs  []string // visited so far
	knownBlocks []string
	missing     []string // of those that must be there
}

type attribute struct {
	name hcl.Range
	expr hclsyntax.Expression
}

func (d *File) bodyReader(b *hclsyntax.Body, path, what string, open hcl.Range) *reader {
	r := &reader{d: d, path: path, what: what, open: open, attrs: map[string]attribute{}, inner: b.Blocks}
	for name, a := range b.Attributes {
		r.attrs[name] = attribute{a.NameRange, a.Expr}
	}
	return r
}

// finish reports what the file has and the schema has not, and what the schema must have and the file has not: a misspelt
// attribute is one error.
func (r *reader) finish() {
	meant := ""
	for name, a := range r.attrs {
		if slices.Contains(r.knownAttrs, name) {
			continue
		}
		hint := DidYouMean(name, r.knownAttrs, "%s")
		if slices.Contains(r.knownBlocks, name) {
			hint = fmt.Sprintf("; %s is a block: write %s { ... } without the equals sign", name, name)
		} else if hint == "" {
			hint = DidYouMean(name, r.knownBlocks, "the block %s { ... }")
		}
		meant += hint
		r.d.unknown = append(r.d.unknown, r.open)
		r.d.report(Error, a.name, "%sunknown attribute %s%s%s", r.prefix(), Short(name), hint, r.known(hint))
	}
	for _, name := range r.missing {
		if !strings.Contains(meant, "mean "+name+"?") {
			r.d.report(Error, r.open, "%s%s is missing", r.prefix(), name)
		}
	}
	for _, b := range r.inner {
		if slices.Contains(r.knownBlocks, b.Type) {
			continue
		}
		hint := DidYouMean(b.Type, r.knownBlocks, "%s")
		if slices.Contains(r.knownAttrs, b.Type) {
			hint = fmt.Sprintf("; %s is an attribute: write %s = ...", b.Type, b.Type)
		} else if hint == "" {
			hint = DidYouMean(b.Type, r.knownAttrs, "the attribute %s")
		}
		r.d.report(Error, b.TypeRange, "%sunknown block %s%s%s", r.prefix(), Short(b.Type), hint, r.known(hint))
	}
}

// known lists the names that the schema has, for an error that has no suggestion.
func (r *reader) known(hint string) string {
	if hint != "" {
		return ""
	}
	return "; known here: " + strings.Join(append(slices.Clone(r.knownAttrs), r.knownBlocks...), ", ")
}

func (r *reader) prefix() string {
	if r.what == "" {
		return ""
	}
	return r.what + ": "
}

func (r *reader) sub(name string) string {
	if r.path == "" {
		return name
	}
	return r.path + "." + name
}

func (r *reader) Attr(name string, v Value) { r.Read(name, v) }

func (r *reader) Required(name string, v Value) {
	if !r.Read(name, v) {
		r.missing = append(r.missing, name)
	}
}

// Read reports whether the attribute is there.
func (r *reader) Read(name string, v Value) bool {
	r.knownAttrs = append(r.knownAttrs, name)
	a, ok := r.attrs[name]
	if !ok || isNull(a.expr) {
		return false
	}
	r.d.place(v.Key(), a.expr.Range())
	path := r.sub(name)
	x := &Expr{d: r.d, path: path, Where: r.prefix() + name, e: a.expr}
	if !v.Read(x) {
		r.d.failed[v.Key()] = true
	}
	return true
}

// take returns the blocks of one type.
func (r *reader) take(name string) []*hclsyntax.Block {
	r.knownBlocks = append(r.knownBlocks, name)
	var out []*hclsyntax.Block
	for _, b := range r.inner {
		if b.Type == name {
			out = append(out, b)
		}
	}
	return out
}

func (r *reader) Block(name string, key any, visit func(Visitor)) {
	if b := r.onlyOne(name); b != nil {
		r.nested(b, key, name, visit)
	}
}

// onlyOne returns the unlabelled block of a type, nil where there is none.
func (r *reader) onlyOne(name string) *hclsyntax.Block {
	found := r.take(name)
	if len(found) == 0 {
		return nil
	}
	for _, b := range found[1:] {
		r.d.report(Error, b.TypeRange, "%sa second block %s; the first stands in %s: merge them", r.prefix(), name, lineOf(found[0].TypeRange, b.TypeRange))
	}
	if len(found[0].Labels) > 0 {
		r.d.report(Error, found[0].LabelRanges[0], "%sthe block %s has no name: write %s { ... }", r.prefix(), name, name)
	}
	return found[0]
}

func (r *reader) nested(b *hclsyntax.Block, key any, what string, visit func(Visitor)) {
	r.d.place(key, b.DefRange())
	if r.what != "" {
		what = r.what + ": " + what
	}
	sub := r.d.bodyReader(b.Body, r.sub(b.Type), what, b.DefRange())
	visit(sub)
	sub.finish()
}

func (r *reader) Optional(name string, p OptionalBlock) {
	if b := r.onlyOne(name); b != nil {
		p.Create()
		r.nested(b, p.Key(), name, p.Visit)
	}
}

func (r *reader) Blocks(name string, l BlockList) {
	found := r.take(name)
	l.Resize(len(found))
	first := map[string]hcl.Range{}
	for i, b := range found {
		label := r.Label(b)
		*l.Label(i) = label
		if before, twice := first[label]; twice && label != "" {
			r.d.report(Error, b.DefRange(), "%sa second %s %q; the first stands in %s: names must differ", r.prefix(), name, label, lineOf(before, b.TypeRange))
		} else {
			first[label] = b.TypeRange
		}
		what := name
		if label != "" {
			what = fmt.Sprintf("%s %q", name, label)
		}
		r.nested(b, l.Key(i), what, func(v Visitor) { l.Visit(i, v) })
	}
}

// Label returns the name of a labelled block, "" where it has none that is good.
func (r *reader) Label(b *hclsyntax.Block) string {
	if len(b.Labels) != 1 {
		r.d.report(Error, b.DefRange(), "%sthe block %s needs one name: %s \"name\" { ... }", r.prefix(), b.Type, b.Type)
		return ""
	}
	name := b.Labels[0]
	if !isName(name) {
		r.d.report(Error, b.LabelRanges[0], "%s%s", r.prefix(), badName(name))
		return ""
	}
	return name
}

// maxName characters of a name fit a metrics label and a log line.
const maxName = 64

func isName(s string) bool {
	if len(s) == 0 || len(s) > maxName {
		return false
	}
	for _, c := range s {
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && !strings.ContainsRune(" _-.:/@#", c) {
			return false
		}
	}
	return true
}
