// lister, the visitor that lists attributes by path (Settings), for Diff.

package schema

import "slices"

// Setting is one attribute with the value that Dump writes, or a labelled block.
type Setting struct {
	Path  string // `node.id`, `watch "web".match.source`; of a block `watch "web"`
	Value string // of an attribute, in HCL
	Block string // of a labelled block: its path without the label, `watch`; "" for an attribute
	Label string // of a labelled block
}

// Settings lists the fields of the schema that visit walks, blocks before what they hold.
func Settings(visit func(Visitor)) []Setting {
	var l lister
	visit(&l)
	return l.all
}

// lister is the visitor that makes the list.
type lister struct {
	all    []Setting
	prefix string // of paths: "events.hop_latency."
}

func (l *lister) Attr(name string, v Value) {
	if text, ok := v.Write(); ok {
		l.all = append(l.all, Setting{Path: l.prefix + name, Value: text})
	}
}

func (l *lister) Required(name string, v Value) { l.Attr(name, v) }

func (l *lister) Block(name string, _ any, visit func(Visitor)) {
	outer := l.prefix
	l.prefix += name + "."
	visit(l)
	l.prefix = outer
}

func (l *lister) Optional(name string, p OptionalBlock) {
	if p.Exists() {
		l.Block(name, nil, p.Visit)
	}
}

func (l *lister) Blocks(name string, list BlockList) {
	for i := range list.Size() {
		label := *list.Label(i)
		named := name + " " + Quote(label)
		l.all = append(l.all, Setting{Path: l.prefix + named, Block: l.prefix + name, Label: label})
		l.Block(named, nil, func(v Visitor) { list.Visit(i, v) })
	}
}

// Labels returns the labels of each list of labelled blocks, by the lists' paths, in order.
func Labels(settings []Setting) map[string][]string {
	labels := map[string][]string{}
	for _, s := range settings {
		if s.Block != "" && !slices.Contains(labels[s.Block], s.Label) {
			labels[s.Block] = append(labels[s.Block], s.Label)
		}
	}
	return labels
}
