package conf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// vnis is a list of VXLAN or Geneve network identifiers, of 24 bits.
func vnis(p *[]VNIRange) value {
	const accepted = `numbers or ranges such as "1000-1999", from 0 to 16777215`
	return &listValue[VNIRange]{
		p: p, single: true, accepted: accepted, same: equal[VNIRange],
		parse: one(func(x *expr) (VNIRange, bool) {
			first, last, ok := parseRange(x, accepted, 0, 1<<24-1)
			return VNIRange{first, last}, ok
		}),
		format: func(r VNIRange) string { return formatRange(r.First, r.Last) },
	}
}

// devices is a list of node ids, or of longer ids in domain specific metadata.
func devices(p *[]uint64) value {
	const accepted = `numbers from 0 to 4294967294, or up to 64 bits such as "0x020000000001"`
	return &listValue[uint64]{
		p: p, single: true, accepted: accepted, same: equal[uint64], format: formatDevice,
		parse: one(func(x *expr) (uint64, bool) {
			s, ok := x.textOrNumber(accepted)
			if !ok {
				return 0, false
			}
			return parseDevice(x, s, accepted)
		}),
	}
}

func parseDevice(x *expr, s, accepted string) (uint64, bool) {
	hex, isHex := strings.CutPrefix(strings.ToLower(s), "0x")
	n, err := strconv.ParseUint(s, 10, 32)
	if isHex {
		n, err = strconv.ParseUint(hex, 16, 64)
	}
	switch _, notHex := strconv.ParseUint(s, 16, 64); {
	case err == nil && (n == math.MaxUint32 || n == math.MaxUint64):
		return 0, x.fail("all ones stand for an unknown id (INT 2.1): no device has it")
	case err == nil:
		return n, true
	case notHex == nil && !isHex:
		return 0, x.fail("accepted are %s; did you mean %q?", accepted, "0x"+s)
	}
	return 0, x.fail("accepted are %s", accepted)
}

func formatDevice(n uint64) string {
	if n <= math.MaxUint32 {
		return strconv.FormatUint(n, 10)
	}
	return quote(fmt.Sprintf("0x%x", n))
}
