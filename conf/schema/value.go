// Value: joins a field to its HCL form: integers, fractions, booleans, text; wrappers of
// values (Then, Checked, Omitted).

package schema

import (
	"fmt"
	"strconv"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Value joins a field of the Config to the way it is written in HCL.
type Value interface {
	// Read sets the field from x, or reports what is wrong with x and leaves the
	// field alone.
	Read(x *Expr) bool
	// Write returns the field as an HCL expression; false: it is not configured.
	Write() (string, bool)
	// Key is a pointer by which the checks find where the field was set.
	Key() any
}

type whole interface {
	~int | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Integer returns a whole number from min to max.
func Integer[T whole](p *T, min, max int64) Value { return &intValue[T]{p, min, max, false} }

// PowerOfTwo returns an integer that is a power of two; so are min and max.
func PowerOfTwo[T whole](p *T, min, max int64) Value { return &intValue[T]{p, min, max, true} }

type intValue[T whole] struct {
	p        *T
	min, max int64
	pow2     bool
}

func (v *intValue[T]) Key() any              { return v.p }
func (v *intValue[T]) Write() (string, bool) { return fmt.Sprint(*v.p), true }

func (v *intValue[T]) Read(x *Expr) bool {
	n, ok := x.Integer(v.min, v.max, v.pow2)
	if ok {
		*v.p = T(n)
	}
	return ok
}

// Optional returns an integer without a default.
func Optional[T whole](p **T, min, max int64) Value { return &optionalValue[T]{p, min, max} }

type optionalValue[T whole] struct {
	p        **T
	min, max int64
}

func (v *optionalValue[T]) Key() any { return v.p }

func (v *optionalValue[T]) Write() (string, bool) {
	if *v.p == nil {
		return "", false
	}
	return fmt.Sprint(**v.p), true
}

func (v *optionalValue[T]) Read(x *Expr) bool {
	n, ok := x.Integer(v.min, v.max, false)
	if ok {
		t := T(n)
		*v.p = &t
	}
	return ok
}

// Fraction returns a number from min to max.
func Fraction(p *float64, min, max float64) Value { return &floatValue{p, min, max} }

type floatValue struct {
	p        *float64
	min, max float64
}

func (v *floatValue) Key() any              { return v.p }
func (v *floatValue) Write() (string, bool) { return strconv.FormatFloat(*v.p, 'f', -1, 64), true }

func (v *floatValue) Read(x *Expr) bool {
	accepted := fmt.Sprintf("a number from %v to %v", v.min, v.max)
	n, ok := x.number(accepted)
	if !ok {
		return false
	}
	f, _ := n.Float64()
	if !(f >= v.min && f <= v.max) {
		return x.Fail("must be %s", accepted)
	}
	*v.p = f + 0 // no negative zero
	return true
}

// Boolean is true or false.
func Boolean(p *bool) Value { return &boolValue{p} }

type boolValue struct{ p *bool }

func (v *boolValue) Key() any              { return v.p }
func (v *boolValue) Write() (string, bool) { return strconv.FormatBool(*v.p), true }

func (v *boolValue) Read(x *Expr) bool {
	const accepted = "true or false"
	c, ok := x.literal(accepted)
	if !ok {
		return false
	}
	if len(x.variables()) > 0 && (c.AsString() == "true" || c.AsString() == "false") {
		c = cty.BoolVal(c.AsString() == "true")
	}
	if c.Type() != cty.Bool {
		return x.Fail("must be %s", accepted)
	}
	*v.p = c.True()
	return true
}

// Text is any string.
func Text(p *string) Value { return &textValue{p} }

type textValue struct{ p *string }

func (v *textValue) Key() any              { return v.p }
func (v *textValue) Write() (string, bool) { return Quote(*v.p), true }

func (v *textValue) Read(x *Expr) bool {
	s, ok := x.Text("a string in quotes")
	if ok {
		*v.p = s
	}
	return ok
}

// Quote returns s as an HCL string.
func Quote(s string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes())
}

// Then is v with a function that runs after v was read from a file.
func Then(v Value, f func()) Value { return thenValue{v, f} }

type thenValue struct {
	Value
	f func()
}

func (t thenValue) Read(x *Expr) bool {
	ok := t.Value.Read(x)
	if ok {
		t.f()
	}
	return ok
}

// Checked is v with a check that runs after v was read from a file; good reports itself what
// is wrong, and returns false.
func Checked(v Value, good func(x *Expr) bool) Value { return checkedValue{v, good} }

type checkedValue struct {
	Value
	good func(x *Expr) bool
}

func (c checkedValue) Read(x *Expr) bool { return c.Value.Read(x) && c.good(x) }

// Omitted is v, which a dump leaves out if absent returns true.
func Omitted(v Value, absent func() bool) Value { return omittedValue{v, absent} }

type omittedValue struct {
	Value
	absent func() bool
}

func (o omittedValue) Write() (string, bool) {
	if o.absent() {
		return "", false
	}
	return o.Value.Write()
}
