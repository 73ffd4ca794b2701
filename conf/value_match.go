// Reads and writes the values of watch.match: ports, VNIs, device ids, DSCP code points,
// protocol names.

package conf

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"intsink/conf/schema"
)

// names is a list of names of other blocks.
func names(p *[]string, such string) schema.Value {
	list := schema.Texts(p)
	list.Single, list.Once, list.Accepted = true, true, fmt.Sprintf("names in quotes such as %q", such)
	return list
}

// ports is a list of ports, or of VLAN ids, and ranges of them.
func ports(p *[]PortRange, min, max uint16) schema.Value {
	accepted := fmt.Sprintf(`numbers or ranges such as "%d-%d", from %d to %d`, min+1, min+99, min, max)
	return schema.Ranges(p, accepted, min, max, nil)
}

// vnis is a list of VXLAN or Geneve network identifiers, of 24 bits.
func vnis(p *[]VNIRange) schema.Value {
	return schema.Ranges(p, `numbers or ranges such as "1000-1999", from 0 to 16777215`, 0, 1<<24-1, nil)
}

// devices is a list of node ids, or of longer ids in domain specific metadata.
func devices(p *[]uint64) schema.Value {
	const accepted = `numbers from 0 to 4294967294, or up to 64 bits such as "0x020000000001"`
	return &schema.List[uint64]{
		Into: p, Single: true, Accepted: accepted, Once: true, Format: formatDevice,
		Parse: schema.One(func(x *schema.Expr) (uint64, bool) {
			s, ok := x.TextOrNumber(accepted)
			if !ok {
				return 0, false
			}
			return parseDevice(x, s, accepted)
		}),
	}
}

func parseDevice(x *schema.Expr, s, accepted string) (uint64, bool) {
	hex, isHex := strings.CutPrefix(strings.ToLower(s), "0x")
	n, err := strconv.ParseUint(s, 10, 32)
	if isHex {
		n, err = strconv.ParseUint(hex, 16, 64)
	}
	switch _, notHex := strconv.ParseUint(s, 16, 64); {
	case err == nil && (n == math.MaxUint32 || n == math.MaxUint64):
		return 0, x.Fail("all ones stand for an unknown id (INT 2.1): no device has it")
	case err == nil:
		return n, true
	case notHex == nil && !isHex:
		return 0, x.Fail("accepted are %s; did you mean %q?", accepted, "0x"+s)
	}
	return 0, x.Fail("accepted are %s", accepted)
}

func formatDevice(n uint64) string {
	if n <= math.MaxUint32 {
		return strconv.FormatUint(n, 10)
	}
	return schema.Quote(fmt.Sprintf("0x%x", n))
}

// codePoints is a list of DSCP values.
func codePoints(p *[]uint8) schema.Value {
	return &schema.List[uint8]{
		Into: p, Single: true, Accepted: "numbers from 0 to 63", Once: true,
		Format: func(n uint8) string { return strconv.Itoa(int(n)) },
		Parse: schema.One(func(x *schema.Expr) (uint8, bool) {
			n, ok := x.Integer(0, 63, false)
			return uint8(n), ok
		}),
	}
}

// protocolNames are the IP protocols that have a name here.
var protocolNames = []struct {
	name   string
	number uint8
}{
	{"tcp", 6}, {"udp", 17}, {"icmp", 1}, {"icmpv6", 58}, {"sctp", 132}, {"gre", 47}, {"esp", 50}, {"ah", 51},
}

// protocols is a list of IP protocols, by name or number.
func protocols(p *[]uint8) schema.Value {
	const accepted = "tcp, udp, icmp, icmpv6, sctp, gre, esp, ah or a number from 0 to 255"
	return &schema.List[uint8]{
		Into: p, Single: true, Accepted: accepted, Once: true,
		Format: func(n uint8) string {
			for _, known := range protocolNames {
				if known.number == n {
					return schema.Quote(known.name)
				}
			}
			return strconv.Itoa(int(n))
		},
		Parse: schema.One(func(x *schema.Expr) (uint8, bool) { return parseProtocol(x, accepted) }),
	}
}

func parseProtocol(x *schema.Expr, accepted string) (uint8, bool) {
	s, ok := x.TextOrNumber(accepted)
	if !ok {
		return 0, false
	}
	var names []string
	for _, known := range protocolNames {
		if strings.EqualFold(s, known.name) {
			return known.number, true
		}
		names = append(names, known.name)
	}
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return 0, x.Fail("not a protocol; accepted is %s%s", accepted, schema.DidYouMean(s, names, "%q"))
	}
	return uint8(n), true
}

// PortRange is a range of ports, or of VLAN ids.
type PortRange = schema.Range[uint16]

// VNIRange is a range of VXLAN or Geneve network identifiers.
type VNIRange = schema.Range[uint32]
