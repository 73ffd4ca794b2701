package conf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// reader is the visitor that fills one block's fields from the file.
type reader struct {
	d     *decoder
	path  string // "int.domain"; "" for the file
	what  string // `domain "ts"`, for messages; "" for the file
	open  hcl.Range
	attrs map[string]attribute
	inner []*hclsyntax.Block

	knownAttrs  []string // visited so far
	knownBlocks []string
}

type attribute struct {
	name hcl.Range
	expr hclsyntax.Expression
}

func (d *decoder) bodyReader(b *hclsyntax.Body, path, what string, open hcl.Range) *reader {
	r := &reader{d: d, path: path, what: what, open: open, attrs: map[string]attribute{}, inner: b.Blocks}
	for name, a := range b.Attributes {
		r.attrs[name] = attribute{a.NameRange, a.Expr}
	}
	return r
}

// finish reports what the file has and the schema has not.
func (r *reader) finish() {
	for name, a := range r.attrs {
		if slices.Contains(r.knownAttrs, name) {
			continue
		}
		hint := didYouMean(name, r.knownAttrs, "%s")
		if slices.Contains(r.knownBlocks, name) {
			hint = fmt.Sprintf("; %s is a block: write %s { ... } without the equals sign", name, name)
		} else if hint == "" {
			hint = didYouMean(name, r.knownBlocks, "the block %s { ... }")
		}
		r.d.report(Error, a.name, "%sunknown attribute %s%s%s", r.prefix(), short(name), hint, r.known(hint))
	}
	for _, b := range r.inner {
		if slices.Contains(r.knownBlocks, b.Type) {
			continue
		}
		hint := didYouMean(b.Type, r.knownBlocks, "%s")
		if slices.Contains(r.knownAttrs, b.Type) {
			hint = fmt.Sprintf("; %s is an attribute: write %s = ...", b.Type, b.Type)
		} else if hint == "" {
			hint = didYouMean(b.Type, r.knownAttrs, "the attribute %s")
		}
		r.d.report(Error, b.TypeRange, "%sunknown block %s%s%s", r.prefix(), short(b.Type), hint, r.known(hint))
	}
}

// known lists what there is, where no suggestion was found.
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

func (r *reader) attr(name string, v value) { r.read(name, v) }

func (r *reader) required(name string, v value) {
	if !r.read(name, v) {
		r.d.report(Error, r.open, "%s%s is missing", r.prefix(), name)
	}
}

// read reports whether the attribute is there.
func (r *reader) read(name string, v value) bool {
	r.knownAttrs = append(r.knownAttrs, name)
	a, ok := r.attrs[name]
	if !ok || isNull(a.expr) {
		return false
	}
	r.d.place(v.key(), a.expr.Range())
	path := r.sub(name)
	x := &expr{d: r.d, path: path, where: r.prefix() + name, e: a.expr}
	if !v.read(x) {
		r.d.failed[v.key()] = true
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

func (r *reader) block(name string, key any, visit func(visitor)) {
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
		r.d.report(Error, b.TypeRange, "%sa second block %s; the first stands in line %d: merge them", r.prefix(), name, found[0].TypeRange.Start.Line)
	}
	if len(found[0].Labels) > 0 {
		r.d.report(Error, found[0].LabelRanges[0], "%sthe block %s has no name: write %s { ... }", r.prefix(), name, name)
	}
	return found[0]
}

func (r *reader) nested(b *hclsyntax.Block, key any, what string, visit func(visitor)) {
	r.d.place(key, b.DefRange())
	if r.what != "" {
		what = r.what + ": " + what
	}
	sub := r.d.bodyReader(b.Body, r.sub(b.Type), what, b.DefRange())
	visit(sub)
	sub.finish()
}

func (r *reader) optional(name string, p optionalBlock) {
	if b := r.onlyOne(name); b != nil {
		p.create()
		r.nested(b, p.key(), name, p.visit)
	}
}

func (r *reader) blocks(name string, l blockList) {
	found := r.take(name)
	l.resize(len(found))
	first := map[string]int{} // line of the name
	for i, b := range found {
		label := r.label(b)
		*l.label(i) = label
		if line, twice := first[label]; twice && label != "" {
			r.d.report(Error, b.DefRange(), "%sa second %s %q; the first stands in line %d: names must differ", r.prefix(), name, label, line)
		} else {
			first[label] = b.TypeRange.Start.Line
		}
		what := name
		if label != "" {
			what = fmt.Sprintf("%s %q", name, label)
		}
		r.nested(b, l.key(i), what, func(v visitor) { l.visit(i, v) })
	}
}

// label is the name of a labelled block, "" where it has none that is good.
func (r *reader) label(b *hclsyntax.Block) string {
	if len(b.Labels) != 1 {
		r.d.report(Error, b.DefRange(), "%sthe block %s needs one name: %s \"name\" { ... }", r.prefix(), b.Type, b.Type)
		return ""
	}
	name := b.Labels[0]
	if !isName(name) {
		r.d.report(Error, b.LabelRanges[0], "%sa name has 1 to %d letters, digits, spaces or _ - . : / @ #, not %q", r.prefix(), maxName, short(name))
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
