// Size: numbers of bytes, such as "10GiB".

package schema

import (
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, such as "64MiB".
func Size(p *int64, min, max int64) Value { return &sizeValue{p, min, max} }

type sizeValue struct {
	p        *int64
	min, max int64
}

// units are those that a size may have, the greatest first.
var units = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}

const sizeAccepted = `a size with a unit, such as "64MiB" or "10GiB"`

// Key is what checks know the value by.
func (s *sizeValue) Key() any { return s.p }

// Read takes the value from the file.
func (s *sizeValue) Read(x *Expr) bool {
	text, ok := x.TextOrNumber(sizeAccepted)
	if !ok {
		return false
	}
	n, ok := ParseSize(text)
	if !ok {
		return x.Fail("must be %s", sizeAccepted)
	}
	if n < s.min || n > s.max {
		return x.Fail("must be %s to %s", SizeText(s.min), SizeText(s.max))
	}
	*s.p = n
	return true
}

// Write returns the value as the file would have it.
func (s *sizeValue) Write() (string, bool) { return Quote(SizeText(*s.p)), true }

// ParseSize reads what SizeText writes, and the like; false: it is no size.
func ParseSize(text string) (int64, bool) {
	if text == "0" {
		return 0, true
	}
	for _, u := range units {
		digits, found := strings.CutSuffix(text, u.name)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.bytes {
			return 0, false
		}
		return n * u.bytes, true
	}
	return 0, false
}

// SizeText is n bytes as a file has it.
func SizeText(n int64) string {
	if n == 0 {
		return "0"
	}
	for _, u := range units {
		if n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return ""
}
