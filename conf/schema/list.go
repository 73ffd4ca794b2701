// List[T]: an attribute that takes a list of values, or one value without brackets; Texts, a list
// of any texts.

package schema

import (
	"slices"
	"strings"
)

// List is a list of T, or one T alone where single is set.
type List[T any] struct {
	Into     *[]T
	Single   bool // one element may stand there without brackets
	keep     bool // written even when empty; [] is not the same as nothing
	Accepted string
	Parse    func(x *Expr) ([]T, bool) // one element; several T where it abbreviates them
	Format   func(T) string            // as HCL
	Same     func(a, b T) bool         // nil: repetitions are fine
	finish   func([]T) []T             // nil: as written
}

// Key is the pointer to the list.
func (v *List[T]) Key() any { return v.Into }

// Write is the list as HCL; false where it is empty and that means nothing.
func (v *List[T]) Write() (string, bool) {
	if len(*v.Into) == 0 {
		return "[]", v.keep && *v.Into != nil
	}
	out := make([]string, len(*v.Into))
	for i, t := range *v.Into {
		out[i] = v.Format(t)
	}
	return "[" + strings.Join(out, ", ") + "]", true
}

// OrNone makes [] mean "none", which differs from an omitted attribute, for which the default
// holds.
func (v *List[T]) OrNone() *List[T] {
	v.keep = true
	return v
}

// OmitEmpty makes [] the same as an omitted attribute; it is the opposite of OrNone.
func (v *List[T]) OmitEmpty() *List[T] {
	v.keep = false
	return v
}

// Read sets the list where every element is good.
func (v *List[T]) Read(x *Expr) bool {
	elems, ok := x.Elements(v.Accepted, v.Single)
	if !ok {
		return false
	}
	list := make([]T, 0, len(elems))
	for i, e := range elems {
		ts, good := v.Parse(e)
		ok = ok && good
		for _, t := range ts {
			if v.Same != nil && slices.ContainsFunc(list, func(o T) bool { return v.Same(o, t) }) {
				ok = e.Fail("stands there twice; once is enough")
				break
			}
			list = append(list, t)
			x.d.place(element{v.Into, len(list) - 1}, elems[i].e.Range())
		}
	}
	if !ok {
		return false
	}
	if v.finish != nil {
		list = v.finish(list)
	}
	if len(list) == 0 && !v.keep {
		list = nil
	}
	*v.Into = list
	return true
}

// Equal is the Same of lists in which nothing stands twice.
func Equal[T comparable](a, b T) bool { return a == b }

// One makes the parser of a list out of that of a single element.
func One[T any](f func(x *Expr) (T, bool)) func(x *Expr) ([]T, bool) {
	return func(x *Expr) ([]T, bool) {
		t, ok := f(x)
		if !ok {
			return nil, false
		}
		return []T{t}, true
	}
}
