//go:build cgo

package fast

import (
	"reflect"
	"strings"
	"testing"

	"intsink/dpdk/mbuf"
	"intsink/engine/episode"
	"intsink/engine/event"
	"intsink/engine/usual"
	"intsink/flows"
)

// TestLayout: every field of a struct that C and Go share has the same name, place and size in both.
func TestLayout(t *testing.T) {
	view, table := reflect.TypeFor[event.FastView](), reflect.TypeFor[flows.Table]()
	fieldOf := func(s reflect.Type, name string) reflect.Type {
		f, ok := s.FieldByName(name)
		if !ok {
			t.Fatalf("%v has no %s", s, name)
		}
		return f.Type
	}
	ours := []reflect.Type{
		reflect.TypeOf((*mbuf.Mbuf)(nil)).Elem(), reflect.TypeFor[State](), view, reflect.TypeFor[Loop](),
		reflect.TypeFor[flows.Flow](), reflect.TypeFor[flows.Loss](), fieldOf(table, "buckets").Elem(), fieldOf(view, "others"), reflect.TypeFor[usual.Limit](),
		fieldOf(reflect.TypeFor[flows.Small[event.Link]](), "entries").Elem(),
		fieldOf(reflect.TypeFor[episode.Tallies](), "tallies").Elem(), reflect.TypeFor[flows.Cold](), reflect.TypeFor[episode.Drawn](),
	}
	for i, p := range inC() {
		sameLayout(t, reflect.TypeOf(p).Elem(), ours[i])
	}
}

// sameLayout compares the fields of struct c of C with those of Go's g, which may go on behind them.
func sameLayout(t *testing.T, c, g reflect.Type) {
	for i := range c.NumField() {
		f := c.Field(i)
		if f.Name == "_" || strings.HasPrefix(f.Name, "pad") || f.Name == "bound" { // bound: Generation, Watch, flags
			continue
		}
		of, ok := at(g, f)
		if !ok {
			t.Errorf("%v.%s at %d, of %d bytes: nothing of %v stands there by that name", c, f.Name, f.Offset, f.Type.Size(), g)
			continue
		}
		a, b := f.Type, of
		for a.Kind() == reflect.Array && b.Kind() == reflect.Array {
			a, b = a.Elem(), b.Elem()
		}
		if a.Size() != b.Size() && a.Kind() == reflect.Struct {
			t.Errorf("%v.%s: one of them has %d bytes, in Go %d", c, f.Name, a.Size(), b.Size())
		}
		if a.Kind() == reflect.Struct && b.Kind() == reflect.Struct {
			sameLayout(t, a, b)
		}
	}
}

// at returns the type of g's field, or of a field in it, that is named and stands as c does.
func at(g reflect.Type, c reflect.StructField) (reflect.Type, bool) {
	name := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	for i := range g.NumField() {
		f := g.Field(i)
		if c.Offset == f.Offset && c.Type.Size() == f.Type.Size() && name(c.Name) == name(f.Name) {
			return f.Type, true
		}
		if f.Type.Kind() == reflect.Struct && f.Offset <= c.Offset && c.Offset < f.Offset+f.Type.Size() {
			c.Offset -= f.Offset
			return at(f.Type, c)
		}
	}
	return nil, false
}
