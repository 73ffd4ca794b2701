// Choice: a value that is one of a list of words; Choices: a List of such words.

package schema

import "slices"

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

// Texts is a list of strings.
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

// Choices is a list of some of the given strings, none twice; what names one of
// them in messages. The list is kept in the order of values.
func Choices(p *[]string, what string, values ...string) *List[string] {
	return &List[string]{
		Into: p, Accepted: "a list of " + oneOf(values), Format: Quote, Same: Equal[string],
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
