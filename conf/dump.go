package conf

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Dump is the configuration as HCL, every attribute written out: Parse of it
// gives an equal Config. Host names of collectors come out as the addresses that
// they were resolved to.
func (c *Config) Dump() []byte {
	var d dumper
	visitConfig(&d, c)
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

func (d *dumper) attr(name string, v value) {
	if text, ok := v.write(); ok {
		d.line("%s = %s", name, text)
	}
}

func (d *dumper) required(name string, v value) { d.attr(name, v) }

func (d *dumper) block(name string, _ any, visit func(visitor)) {
	if d.depth == 0 {
		d.line("")
	}
	d.line("%s {", name)
	d.depth++
	visit(d)
	d.depth--
	d.line("}")
}

func (d *dumper) optional(name string, p optionalBlock) {
	if p.exists() {
		d.block(name, nil, p.visit)
	}
}

func (d *dumper) blocks(name string, l blockList) {
	for i := range l.size() {
		d.block(fmt.Sprintf("%s %s", name, quote(*l.label(i))), nil, func(v visitor) { l.visit(i, v) })
	}
}
