// Object: reads and writes an attribute that is written as { name = value }.

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
	t := v.init
	*v.p = &t
	v.fill(r, *v.p)
	r.finish()
	return true
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
