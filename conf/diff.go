// Diff: lists what changed between two configurations, for the answer of a reload.

package conf

import (
	"fmt"
	"slices"
	"strings"

	"intsink/conf/schema"
)

// Change is one difference between two configurations. It is part of the answer of
// POST /api/v1/reload.
type Change struct {
	Kind string `json:"kind"` // ChangeSet and so on
	Path string `json:"path"` // `events.refresh.every`, `watch "web".sample`, `collector "second"`, `watch`
	Old  string `json:"old"`  // as it is written in HCL; "" where it was not configured, and for a whole block
	New  string `json:"new"`
}

// The kinds of changes.
const (
	ChangeSet     = "changed" // an attribute has another value
	ChangeAdded   = "added"   // a labelled block, with all that it holds
	ChangeRemoved = "removed"
	ChangeMoved   = "moved" // labelled blocks stand in another order
)

// String is one line about the change.
func (c Change) String() string {
	switch c.Kind {
	case ChangeSet, ChangeMoved:
		return fmt.Sprintf("%s: %s -> %s", c.Path, orUnset(c.Old), orUnset(c.New))
	}
	return c.Path + ": " + c.Kind
}

func orUnset(value string) string {
	if value == "" {
		return "(not set)"
	}
	return value
}

// Block is the type of the outermost block that the change is in: "watch".
func (c Change) Block() string {
	end := strings.IndexAny(c.Path, " .")
	if end < 0 {
		return c.Path
	}
	return c.Path[:end]
}

// Diff lists the attributes and blocks of c that differ from old, in the order of the file.
// Defaults count as if they were written out; host names of collectors count as their
// addresses.
func Diff(old, c *Config) []Change {
	before, after := old.settings(), c.settings()
	was, is := valuesOf(before), valuesOf(after)
	d := differ{changes: []Change{}}
	labels, oldLabels := schema.Labels(after), schema.Labels(before)
	moved := map[string]bool{}
	for _, s := range after {
		if s.Block != "" && !moved[s.Block] {
			moved[s.Block] = true
			d.order(s.Block, oldLabels[s.Block], labels[s.Block])
		}
		old, known := was[s.Path]
		switch {
		case d.inside(s.Path):
		case s.Block != "" && !known:
			d.whole(ChangeAdded, s.Path)
		case s.Block == "" && old != s.Value:
			if secret(s.Path) {
				old, s.Value = hidden, hidden
			}
			d.changes = append(d.changes, Change{ChangeSet, s.Path, old, s.Value})
		}
	}
	for _, s := range before {
		_, still := is[s.Path]
		switch {
		case still || d.inside(s.Path):
		case s.Block != "":
			d.whole(ChangeRemoved, s.Path)
		default:
			d.changes = append(d.changes, Change{ChangeSet, s.Path, s.Value, ""})
		}
	}
	return d.changes
}

func (c *Config) settings() []schema.Setting {
	return schema.Settings(func(v schema.Visitor) { visitConfig(v, c) })
}

func valuesOf(settings []schema.Setting) map[string]string {
	values := make(map[string]string, len(settings))
	for _, s := range settings {
		values[s.Path] = s.Value
	}
	return values
}

// differ collects changes.
type differ struct {
	changes []Change
	block   string // that was added or removed last, with a dot behind it
}

// whole adds a change of a whole block, whose attributes are then not listed one by one.
func (d *differ) whole(kind, path string) {
	d.changes = append(d.changes, Change{Kind: kind, Path: path})
	d.block = path + "."
}

func (d *differ) inside(path string) bool { return d.block != "" && strings.HasPrefix(path, d.block) }

// order adds a change where blocks that are in both lists stand in another order.
func (d *differ) order(block string, old, now []string) {
	common := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(other, s) })
	}
	a, b := common(old, now), common(now, old)
	if !slices.Equal(a, b) {
		d.changes = append(d.changes, Change{ChangeMoved, block, quoted(a), quoted(b)})
	}
}

func quoted(labels []string) string {
	all := make([]string, len(labels))
	for i, l := range labels {
		all[i] = schema.Quote(l)
	}
	return strings.Join(all, ", ")
}
