// Object, Objects: read and write an attribute that is written as { name = value }, and one that may
// be a list of such.

package schema

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Object returns an attribute written as { name = value, ... }: a small block whose absence means
// that it is not configured. init is what its own defaults are.
func Object[T any](p **T, init T, fill func(Visitor, *T)) Value {
	return &objectValue[T]{p, init, fill}
}

type objectValue[T any] struct {
	p    **T
	init T
	fill func(Visitor, *T)
}

func (v *objectValue[T]) Key() any { return v.p }

// Fields visits what stands between the braces.
func (v *objectValue[T]) Fields(w Visitor) {
	t := v.init
	v.fill(w, &t)
}

func (v *objectValue[T]) Write() (string, bool) {
	if *v.p == nil {
		return "", false
	}
	var w inlineDumper
	v.fill(&w, *v.p)
	return "{ " + strings.Join(w.fields, ", ") + " }", true
}

func (v *objectValue[T]) Read(x *Expr) bool {
	cons, ok := x.e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		var w inlineDumper
		v.Fields(&w)
		return x.Fail("must be an object such as { %s }", strings.Join(w.fields, ", "))
	}
	t := v.init
	*v.p = &t
	x.fields(cons, func(r Visitor) { v.fill(r, *v.p) })
	return true
}

// fields reads what stands between the braces of cons.
func (x *Expr) fields(cons *hclsyntax.ObjectConsExpr, fill func(Visitor)) {
	r := &reader{d: x.d, path: x.path, what: x.Where, open: cons.OpenRange, attrs: map[string]attribute{}}
	for _, item := range cons.Items {
		name, ok := objectKey(item.KeyExpr)
		if !ok {
			x.d.report(Error, item.KeyExpr.Range(), "%s: a name is needed on the left of the equals sign", x.Where)
			continue
		}
		if _, twice := r.attrs[name]; twice {
			x.d.report(Error, item.KeyExpr.Range(), "%s: %s is set twice", x.Where, Short(name))
			continue
		}
		r.attrs[name] = attribute{item.KeyExpr.Range(), item.ValueExpr}
	}
	fill(r)
	r.finish()
}

// Objects returns an attribute that is a list of objects, or one object alone. An element may also be
// a number from min to max: short sets the field that it stands for, and returns its address.
func Objects[T any](p *[]T, init T, fill func(Visitor, *T), min, max int64, short func(t *T, n int64) (field any)) Value {
	return &objectsValue[T]{p, init, fill, min, max, short}
}

type objectsValue[T any] struct {
	p        *[]T
	init     T
	fill     func(Visitor, *T)
	min, max int64
	short    func(*T, int64) any
}

func (v *objectsValue[T]) Key() any { return v.p }

// Fields visits what stands between the braces of an element.
func (v *objectsValue[T]) Fields(w Visitor) {
	t := v.init
	v.fill(w, &t)
}

func (v *objectsValue[T]) Write() (string, bool) {
	if len(*v.p) == 0 {
		return "", false
	}
	var all []string
	for i := range *v.p {
		var w inlineDumper
		v.fill(&w, &(*v.p)[i])
		all = append(all, "{ "+strings.Join(w.fields, ", ")+" }")
	}
	if len(all) == 1 {
		return all[0], true
	}
	return "[" + strings.Join(all, ", ") + "]", true
}

func (v *objectsValue[T]) Read(x *Expr) bool {
	var w inlineDumper
	v.Fields(&w)
	accepted := "an object such as { " + strings.Join(w.fields, ", ") + " }"
	elements, ok := x.Elements(accepted, true)
	if !ok {
		return false
	}
	list := make([]T, len(elements)) // fields are known by their addresses
	for i, e := range elements {
		list[i] = v.init
		if cons, isObject := e.e.(*hclsyntax.ObjectConsExpr); isObject {
			e.fields(cons, func(r Visitor) { v.fill(r, &list[i]) })
		} else if n, isNumber := v.number(e, accepted, e != x); isNumber {
			x.d.place(v.short(&list[i], n), e.e.Range())
		} else {
			ok = false
		}
		x.d.place(element{v.p, i}, e.e.Range())
	}
	if ok {
		*v.p = list
	}
	return ok
}

// number reads an element that is no object; one that stands alone is no number.
func (v *objectsValue[T]) number(x *Expr, accepted string, inList bool) (int64, bool) {
	if !inList {
		return 0, x.Fail("must be %s, or a list of such", accepted)
	}
	if !isLiteral(x.e) && len(x.variables()) == 0 {
		return 0, x.Fail("must be %s, or a number from %d to %d", accepted, v.min, v.max)
	}
	return x.Integer(v.min, v.max, false)
}

func objectKey(e hclsyntax.Expression) (string, bool) {
	if word := hcl.ExprAsKeyword(e); word != "" {
		return word, true
	}
	key, ok := e.(*hclsyntax.ObjectConsKeyExpr)
	if !ok || !isLiteral(key.Wrapped) {
		return "", false
	}
	t, ok := key.Wrapped.(*hclsyntax.TemplateExpr)
	if !ok || !t.IsStringLiteral() {
		return "", false
	}
	v, _ := t.Value(nil)
	return v.AsString(), true
}

// inlineDumper writes the attributes of an object.
type inlineDumper struct{ fields []string }

func (w *inlineDumper) Attr(name string, v Value) {
	if text, ok := v.Write(); ok {
		w.fields = append(w.fields, name+" = "+text)
	}
}

func (w *inlineDumper) Required(name string, v Value)        { w.Attr(name, v) }
func (*inlineDumper) Block(string, any, func(Visitor))       {}
func (*inlineDumper) Optional(string, OptionalBlock)         {}
func (*inlineDumper) Blocks(name string, elements BlockList) {}
