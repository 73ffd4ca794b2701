// Reads durations such as "30s", exact to the nanosecond, and writes them.

package schema

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"
)

// Duration returns a string such as "30s", from min to max.
func Duration(p *time.Duration, min, max time.Duration) Value { return &durationValue{p, min, max} }

type durationValue struct {
	p        *time.Duration
	min, max time.Duration
}

func (v *durationValue) Key() any { return v.p }

func (v *durationValue) Write() (string, bool) { return Quote(DurationText(*v.p)), true }

func (v *durationValue) Read(x *Expr) bool {
	accepted := fmt.Sprintf("a duration from %q to %q", DurationText(v.min), DurationText(v.max))
	s, ok := x.Text(accepted)
	if !ok {
		return false
	}
	d, err := time.ParseDuration(strings.TrimSpace(s))
	switch {
	case err != nil && s != "" && strings.Trim(s, "0123456789.") == "":
		return x.Fail("must be %s; a unit is missing: ns, us, ms, s, m or h", accepted)
	case err != nil:
		return x.Fail(`must be %s, written like "10us", "30s" or "1m30s"`, accepted)
	case d < 0 && v.min >= 0:
		return x.Fail("must not be negative; accepted is %s", accepted)
	case d < v.min || d > v.max:
		return x.Fail("must be %s", accepted)
	}
	if d, ok = exactDuration(strings.TrimSpace(s), d); !ok {
		return x.Fail("must be a whole number of nanoseconds")
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

// DurationText is d in the largest unit, up to seconds, that makes it a whole
// number; hours where they do.
func DurationText(d time.Duration) string {
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
