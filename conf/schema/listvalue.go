// List[T]: an attribute that takes a list of values, or one without brackets; Texts, a list
// of any texts; Choice: one of a list of words; Choices: a List of such words.

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
	Once     bool                      // each element stands there once; T is comparable then
	finish   func([]T) []T             // nil: as written
}

// Key returns the pointer to the list.
func (v *List[T]) Key() any { return v.Into }

// Write returns the list as HCL; false where it is empty and that means nothing.
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

// OrNone makes [] mean "none". An omitted attribute still gets the default.
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
	list, there := make([]T, 0, len(elems)), map[any]bool{}
	for i, e := range elems {
		ts, good := v.Parse(e)
		ok = ok && good
		for _, t := range ts {
			if v.Once && there[t] {
				ok = e.Fail("stands there twice; once is enough")
				break
			}
			if v.Once {
				there[t] = true
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

// Choice is one of the given words, which are the values of T.
func Choice[T ~string](p *T, values ...T) Value {
	v := &choiceValue[T]{p: p}
	for _, word := range values {
		v.words = append(v.words, string(word))
	}
	return v
}

type choiceValue[T ~string] struct {
	p     *T
	words []string
}

func (v *choiceValue[T]) Key() any { return v.p }

func (v *choiceValue[T]) Write() (string, bool) { return Quote(string(*v.p)), true }

func (v *choiceValue[T]) Read(x *Expr) bool {
	s, ok := x.Text(oneOf(v.words))
	if !ok {
		return false
	}
	if !slices.Contains(v.words, s) {
		return x.Fail("must be %s%s", oneOf(v.words), DidYouMean(s, v.words, "%q"))
	}
	*v.p = T(s)
	return true
}

// Texts returns a list of strings.
func Texts(p *[]string) *List[string] {
	return &List[string]{
		Into: p, Accepted: "a list of strings", Format: Quote,
		Parse: One(func(x *Expr) (string, bool) { return x.Text("a string in quotes") }),
	}
}

// chosen is the key of the place of one string in a list of choices, which is
// sorted.
type chosen struct {
	list *[]string
	s    string
}

// Choices returns a list of some of the given strings, none twice; what names one of them in
// messages. The list is kept in the order of values.
func Choices(p *[]string, what string, values ...string) *List[string] {
	return &List[string]{
		Into: p, Accepted: "a list of " + oneOf(values), Format: Quote, Once: true,
		Parse: One(func(x *Expr) (string, bool) {
			s, ok := x.Text("a string in quotes")
			if !ok {
				return "", false
			}
			if !slices.Contains(values, s) {
				if hint := DidYouMean(s, values, "%q"); hint != "" {
					return "", x.Fail("unknown %s%s", what, hint)
				}
				return "", x.Fail("unknown %s; known: %s", what, oneOf(values))
			}
			x.d.place(chosen{p, s}, x.e.Range())
			return s, true
		}),
		finish: func(list []string) []string {
			slices.SortFunc(list, func(a, b string) int { return slices.Index(values, a) - slices.Index(values, b) })
			return list
		},
	}
}
