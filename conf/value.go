package conf

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// value joins a field of the Config to the way it is written in HCL.
type value interface {
	// read sets the field from x, or reports what is wrong with x and leaves the
	// field alone.
	read(x *expr) bool
	// write is the field as an HCL expression; false: it is not configured.
	write() (string, bool)
	// key is a pointer by which the checks find where the field was set.
	key() any
}

// then is v with something to do after it was read from a file.
func then(v value, f func()) value { return thenValue{v, f} }

type thenValue struct {
	value
	f func()
}

func (t thenValue) read(x *expr) bool {
	ok := t.value.read(x)
	if ok {
		t.f()
	}
	return ok
}

type whole interface {
	~int | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// integer is a whole number from min to max.
func integer[T whole](p *T, min, max int64) value { return &intValue[T]{p, min, max, false} }

// powerOfTwo is an integer that is a power of two; so are min and max.
func powerOfTwo[T whole](p *T, min, max int64) value { return &intValue[T]{p, min, max, true} }

type intValue[T whole] struct {
	p        *T
	min, max int64
	pow2     bool
}

func (v *intValue[T]) key() any              { return v.p }
func (v *intValue[T]) write() (string, bool) { return fmt.Sprint(*v.p), true }

func (v *intValue[T]) read(x *expr) bool {
	n, ok := x.integer(v.min, v.max, v.pow2)
	if ok {
		*v.p = T(n)
	}
	return ok
}

// optional is an integer without a default.
func optional[T whole](p **T, min, max int64) value { return &optionalValue[T]{p, min, max} }

type optionalValue[T whole] struct {
	p        **T
	min, max int64
}

func (v *optionalValue[T]) key() any { return v.p }

func (v *optionalValue[T]) write() (string, bool) {
	if *v.p == nil {
		return "", false
	}
	return fmt.Sprint(**v.p), true
}

func (v *optionalValue[T]) read(x *expr) bool {
	n, ok := x.integer(v.min, v.max, false)
	if ok {
		t := T(n)
		*v.p = &t
	}
	return ok
}

// fraction is a number from min to max.
func fraction(p *float64, min, max float64) value { return &floatValue{p, min, max} }

type floatValue struct {
	p        *float64
	min, max float64
}

func (v *floatValue) key() any              { return v.p }
func (v *floatValue) write() (string, bool) { return strconv.FormatFloat(*v.p, 'f', -1, 64), true }

func (v *floatValue) read(x *expr) bool {
	accepted := fmt.Sprintf("a number from %v to %v", v.min, v.max)
	n, ok := x.number(accepted)
	if !ok {
		return false
	}
	f, _ := n.Float64()
	if !(f >= v.min && f <= v.max) {
		return x.fail("must be %s", accepted)
	}
	*v.p = f + 0 // no negative zero
	return true
}

// boolean is true or false.
func boolean(p *bool) value { return &boolValue{p} }

type boolValue struct{ p *bool }

func (v *boolValue) key() any              { return v.p }
func (v *boolValue) write() (string, bool) { return strconv.FormatBool(*v.p), true }

func (v *boolValue) read(x *expr) bool {
	const accepted = "true or false"
	c, ok := x.literal(accepted)
	if !ok {
		return false
	}
	if c.Type() != cty.Bool {
		return x.fail("must be %s", accepted)
	}
	*v.p = c.True()
	return true
}

// text is any string.
func text(p *string) value { return &textValue{p} }

type textValue struct{ p *string }

func (v *textValue) key() any              { return v.p }
func (v *textValue) write() (string, bool) { return quote(*v.p), true }

func (v *textValue) read(x *expr) bool {
	s, ok := x.text("a string in quotes")
	if ok {
		*v.p = s
	}
	return ok
}

// quote is s as an HCL string.
func quote(s string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes())
}

// choice is one of the given strings.
func choice(p *string, values ...string) *choiceValue { return &choiceValue{p: p, values: values} }

type choiceValue struct {
	p      *string
	values []string
}

func (v *choiceValue) key() any              { return v.p }
func (v *choiceValue) write() (string, bool) { return quote(*v.p), true }

func (v *choiceValue) read(x *expr) bool {
	s, ok := x.text(oneOf(v.values))
	if !ok {
		return false
	}
	for _, known := range v.values {
		if s == known {
			*v.p = s
			return true
		}
	}
	return x.fail("must be %s%s", oneOf(v.values), didYouMean(s, v.values, "%q"))
}

// duration is a string such as "30s", from min to max.
func duration(p *time.Duration, min, max time.Duration) value { return &durationValue{p, min, max} }

type durationValue struct {
	p        *time.Duration
	min, max time.Duration
}

func (v *durationValue) key() any              { return v.p }
func (v *durationValue) write() (string, bool) { return quote(durationText(*v.p)), true }

func (v *durationValue) read(x *expr) bool {
	accepted := fmt.Sprintf("a duration from %q to %q", durationText(v.min), durationText(v.max))
	s, ok := x.text(accepted)
	if !ok {
		return false
	}
	d, err := time.ParseDuration(strings.TrimSpace(s))
	switch {
	case err != nil && s != "" && strings.Trim(s, "0123456789.") == "":
		return x.fail("must be %s; a unit is missing: ns, us, ms, s, m or h", accepted)
	case err != nil:
		return x.fail(`must be %s, written like "10us", "30s" or "1m30s"`, accepted)
	case d < 0 && v.min >= 0:
		return x.fail("must not be negative; accepted is %s", accepted)
	case d < v.min || d > v.max:
		return x.fail("must be %s", accepted)
	}
	if d, ok = exactDuration(strings.TrimSpace(s), d); !ok {
		return x.fail("must be a whole number of nanoseconds")
	}
	*v.p = d
	return true
}

// exactDuration is s, which ParseDuration took for d, without its rounding;
// false: no whole number of nanoseconds.
func exactDuration(s string, d time.Duration) (time.Duration, bool) {
	if !strings.Contains(s, ".") {
		return d, true
	}
	if len(s) > maxDuration {
		return 0, false
	}
	sum := new(big.Rat)
	for _, m := range durationPart.FindAllStringSubmatch(s, -1) {
		unit, err := time.ParseDuration("1" + m[2])
		n, ok := new(big.Rat).SetString(strings.TrimSuffix(m[1], "."))
		if err != nil || !ok {
			return 0, false
		}
		sum.Add(sum, n.Mul(n, new(big.Rat).SetInt64(int64(unit))))
	}
	if strings.HasPrefix(s, "-") {
		sum.Neg(sum)
	}
	return time.Duration(sum.Num().Int64()), sum.IsInt() && sum.Num().IsInt64()
}

// maxDuration characters are enough for every duration with a fraction.
const maxDuration = 80

var durationPart = regexp.MustCompile(`([0-9.]+)([a-zµμ]+)`)

// durationText is d in the largest unit, up to seconds, that makes it a whole
// number; hours where they do.
func durationText(d time.Duration) string {
	units := []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}}
	for _, u := range units {
		if d%u.unit == 0 && d != 0 {
			return fmt.Sprintf("%d%s", d/u.unit, u.name)
		}
	}
	if d == 0 {
		return "0s"
	}
	return fmt.Sprintf("%dns", d)
}
