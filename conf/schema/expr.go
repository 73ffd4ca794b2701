// Expr: the right side of an attribute: reads literals, text, integers, elements; Fail and
// Warn report a fault at its place.

package schema

import (
	"fmt"
	"math/big"
	"math/bits"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Expr is the right side of an attribute, or one element of it, on its way into
// a field.
type Expr struct {
	d     *File
	path  string // "int.udp_port": where it stands in the schema
	Where string // `port "up0": rx_desc`: how messages call it
	e     hclsyntax.Expression
}

// Fail reports x as wrong and returns false.
func (x *Expr) Fail(format string, args ...any) bool {
	x.d.report(Error, x.e.Range(), "%s = %s: %s%s", x.Where, x.source(), fmt.Sprintf(format, args...), x.environment())
	return false
}

// Warn reports a doubt about x.
func (x *Expr) Warn(format string, args ...any) {
	x.Report(Warning, "%s = %s: %s", x.Where, x.source(), fmt.Sprintf(format, args...))
}

// Report reports at the place of x; the message names what it is about.
func (x *Expr) Report(s Severity, format string, args ...any) {
	x.d.report(s, x.e.Range(), format, args...)
}

// source returns the text of x in the file, shortened for messages.
func (x *Expr) source() string {
	return cutText(strings.Join(strings.Fields(strings.ToValidUTF8(x.d.textAt(x.e.Range()), "?")), " "), 40)
}

// attribute returns the name of the attribute that x is the right side of.
func (x *Expr) attribute() string { return x.path[strings.LastIndexByte(x.path, '.')+1:] }

// literal evaluates x, which must be a literal, or text with variables of the environment
// in it: a configuration says what it means, without functions and other templates.
func (x *Expr) literal(accepted string) (cty.Value, bool) {
	if len(x.variables()) > 0 {
		return x.expanded()
	}
	if word := hcl.ExprAsKeyword(x.e); word != "" && !isLiteral(x.e) {
		return cty.NilVal, x.Fail("must be %s; a word needs quotes: %q", accepted, Short(word))
	}
	if !isLiteral(x.e) {
		return cty.NilVal, x.Fail("must be %s, as a literal, or \"${env.NAME}\": there are no other variables, functions, templates or lists here", accepted)
	}
	v, diags := x.e.Value(nil)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() {
		return cty.NilVal, x.Fail("must be %s", accepted)
	}
	return v, true
}

// isLiteral reports whether e is a number, a string, true, false or null, or a minus and such
// a number.
func isLiteral(e hclsyntax.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return true
	case *hclsyntax.ParenthesesExpr:
		return isLiteral(e.Expression)
	case *hclsyntax.UnaryOpExpr:
		n, ok := e.Val.(*hclsyntax.LiteralValueExpr)
		return ok && n.Val.Type() == cty.Number && e.Op == hclsyntax.OpNegate
	case *hclsyntax.TemplateExpr:
		for _, part := range e.Parts {
			l, ok := part.(*hclsyntax.LiteralValueExpr)
			if !ok || l.Val.Type() != cty.String {
				return false
			}
		}
		return true
	}
	return false
}

// isNull reports whether e is null: such an attribute counts as omitted.
func isNull(e hclsyntax.Expression) bool {
	l, ok := e.(*hclsyntax.LiteralValueExpr)
	return ok && l.Val.IsNull()
}

// Text returns the string that x must be; accepted says in messages what it must hold.
func (x *Expr) Text(accepted string) (string, bool) {
	v, ok := x.literal(accepted)
	if !ok {
		return "", false
	}
	if v.Type() != cty.String {
		return "", x.Fail("must be %s, in quotes", strings.TrimSuffix(accepted, " in quotes"))
	}
	return v.AsString(), true
}

// number returns the number that x must be; accepted describes the range in messages.
func (x *Expr) number(accepted string) (*big.Float, bool) {
	v, ok := x.literal(accepted)
	if !ok {
		return nil, false
	}
	if v.Type() == cty.String && len(x.variables()) > 0 {
		if n, err := cty.ParseNumberVal(strings.TrimSpace(v.AsString())); err == nil {
			v = n
		}
	}
	if v.Type() != cty.Number {
		if v.Type() == cty.String && len(x.variables()) == 0 {
			return nil, x.Fail("must be %s%s", accepted, plainNumber(x.attribute(), v.AsString()))
		}
		return nil, x.Fail("must be %s", accepted)
	}
	return v.AsBigFloat(), x.decimal()
}

// Integer returns the whole number from min to max, with pow2 a power of two, that x must be.
func (x *Expr) Integer(min, max int64, pow2 bool) (int64, bool) {
	accepted := fmt.Sprintf("a whole number from %d to %d", min, max)
	if pow2 {
		accepted = fmt.Sprintf("a power of two from %d to %d", min, max)
	}
	f, ok := x.number(accepted)
	if !ok {
		return 0, false
	}
	n, exact := f.Int64() // the nearest that an int64 can hold
	switch {
	case exact == big.Exact && n >= min && n <= max && (!pow2 || n&(n-1) == 0):
		return n, true
	case pow2:
		return 0, x.Fail("must be %s; nearest: %d", accepted, nearestPowerOfTwo(n, min, max))
	}
	return 0, x.Fail("must be %s", accepted)
}

// nearestPowerOfTwo within [min, max], themselves powers of two.
func nearestPowerOfTwo(n, min, max int64) int64 {
	if n <= min {
		return min
	}
	if n >= max {
		return max
	}
	below := int64(1) << (bits.Len64(uint64(n)) - 1)
	if n-below <= 2*below-n {
		return below
	}
	return 2 * below
}

// TextOrNumber returns a string, or the decimal digits of a whole number below 2^32.
func (x *Expr) TextOrNumber(accepted string) (string, bool) {
	v, ok := x.literal(accepted)
	if !ok {
		return "", false
	}
	switch v.Type() {
	case cty.String:
		return strings.TrimSpace(v.AsString()), true
	case cty.Number:
		if !x.decimal() {
			return "", false
		}
		n, exact := v.AsBigFloat().Int64()
		if exact == big.Exact && n >= 0 && n < 1<<32 {
			return fmt.Sprint(n), true
		}
	}
	return "", x.Fail("must be %s", accepted)
}

// Elements of a list; with single, also of something that is no list.
func (x *Expr) Elements(accepted string, single bool) ([]*Expr, bool) {
	e := x.e
	for {
		p, ok := e.(*hclsyntax.ParenthesesExpr)
		if !ok {
			break
		}
		e = p.Expression
	}
	list, ok := e.(*hclsyntax.TupleConsExpr)
	if !ok && single {
		return []*Expr{x}, true
	}
	if !ok {
		return nil, x.Fail("must be %s, in brackets: [ ... ]", accepted)
	}
	var out []*Expr
	for _, e := range list.Exprs {
		out = append(out, &Expr{x.d, x.path, x.Where, e})
	}
	return out, true
}
