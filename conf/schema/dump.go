// dumper, the visitor that writes HCL with every attribute (Dump).

package schema

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Dump returns the fields of the schema that visit walks as HCL, every attribute written out.
func Dump(visit func(Visitor)) []byte {
	var d dumper
	visit(&d)
	return hclwrite.Format(bytes.TrimLeft(d.out.Bytes(), "\n"))
}

// dumper is the visitor that writes HCL.
type dumper struct {
	out   bytes.Buffer
	depth int
}

func (d *dumper) line(format string, args ...any) {
	d.out.WriteString(strings.Repeat("  ", d.depth))
	fmt.Fprintf(&d.out, format, args...)
	d.out.WriteByte('\n')
}

func (d *dumper) Attr(name string, v Value) {
	if text, ok := v.Write(); ok {
		d.line("%s = %s", name, text)
	}
}

func (d *dumper) Required(name string, v Value) { d.Attr(name, v) }

func (d *dumper) Block(name string, _ any, visit func(Visitor)) {
	if d.depth == 0 {
		d.line("")
	}
	d.line("%s {", name)
	d.depth++
	visit(d)
	d.depth--
	d.line("}")
}

func (d *dumper) Optional(name string, p OptionalBlock) {
	if p.Exists() {
		d.Block(name, nil, p.Visit)
	}
}

func (d *dumper) Blocks(name string, l BlockList) {
	for i := range l.Size() {
		d.Block(fmt.Sprintf("%s %s", name, Quote(*l.Label(i))), nil, func(v Visitor) { l.Visit(i, v) })
	}
}
