// Reads and writes prefixes, addresses, MAC addresses, host:port and 64-bit hexadecimal
// numbers.

package schema

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hex64 returns a 64-bit number in a string of hexadecimal digits.
func Hex64(p **uint64) Value { return &hexValue{p} }

type hexValue struct{ p **uint64 }

func (v *hexValue) Key() any { return v.p }

func (v *hexValue) Write() (string, bool) {
	if *v.p == nil {
		return "", false
	}
	return fmt.Sprintf(`"0x%016x"`, **v.p), true
}

func (v *hexValue) Read(x *Expr) bool {
	const accepted = `64 bits as a string of 16 hexadecimal digits, such as "0x0102030405060708"`
	s, ok := x.Text(accepted)
	if !ok {
		return false
	}
	digits, prefixed := strings.CutPrefix(strings.ToLower(s), "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || !prefixed || len(digits) != 16 {
		return x.Fail("must be %s", accepted)
	}
	*v.p = &n
	return true
}

// Prefixes returns a list of IP prefixes; an address alone is a prefix of full length.
func Prefixes(p *[]netip.Prefix) Value {
	return &List[netip.Prefix]{
		Into: p, Single: true, Accepted: `prefixes such as "10.0.0.0/8" or "2001:db8::/32"`, Once: true,
		Parse:  One(parsePrefix),
		Format: func(n netip.Prefix) string { return Quote(n.String()) },
	}
}

func parsePrefix(x *Expr) (netip.Prefix, bool) {
	const accepted = `an IPv4 or IPv6 prefix such as "10.0.0.0/8" or "2001:db8::/32"`
	s, ok := x.Text(accepted)
	if !ok {
		return netip.Prefix{}, false
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	n, err := netip.ParsePrefix(s)
	if err != nil || n.Addr().Is4In6() {
		return netip.Prefix{}, x.Fail("must be %s", accepted)
	}
	if m := n.Masked(); m != n {
		return netip.Prefix{}, x.Fail("has bits set behind its length; did you mean %q?", m)
	}
	return n, true
}

// Address returns an IP address; the zero Addr where it is omitted.
func Address(p *netip.Addr) Value { return &addressValue{p} }

type addressValue struct{ p *netip.Addr }

func (v *addressValue) Key() any { return v.p }

func (v *addressValue) Write() (string, bool) {
	return Quote(v.p.String()), v.p.IsValid()
}

func (v *addressValue) Read(x *Expr) bool {
	const accepted = `an IP address such as "192.0.2.1"`
	s, ok := x.Text(accepted)
	if !ok {
		return false
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return x.Fail("must be %s", accepted)
	}
	*v.p = a.Unmap()
	return true
}

// SplitEndpoint takes "host:port" apart and says what is missing.
func SplitEndpoint(x *Expr, s string) (host string, port uint16, ok bool) {
	colon := strings.LastIndexByte(s, ':')
	if a, port, bare := bareIPv6(s, colon); bare {
		return "", 0, x.Fail("has an IPv6 address without brackets; write it as %q", Short(netip.AddrPortFrom(a, port).String()))
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return "", 0, x.Fail("has no port; write it as %q", Short(netip.AddrPortFrom(a, 8555).String()))
	}
	if colon < 0 {
		return "", 0, x.Fail("has no port; write it as %q", Short(s)+":8555")
	}
	host, digits := s[:colon], s[colon+1:]
	bracketed := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
	if bracketed {
		host = host[1 : len(host)-1]
	}
	if !IsHost(host) || strings.Contains(host, ":") != bracketed {
		return "", 0, x.Fail(`must be "host:port", with brackets around an IPv6 address: "192.0.2.10:8555", "[2001:db8::1]:8555"`)
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 {
		return "", 0, x.Fail("the port must be a number from 1 to 65535")
	}
	return host, uint16(n), true
}

// IsHost reports whether s is an IP address, or can be the name of a host: letters (of any script), digits, and -, _ and dots.
func IsHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	return s != "" && len(s) <= 253 && !strings.ContainsFunc(s, func(r rune) bool {
		return r == utf8.RuneError || !strings.ContainsRune("-_.", r) && !unicode.In(r, unicode.L, unicode.M, unicode.N)
	})
}

// bareIPv6 takes "::1:8555" apart at the last colon, though it is an address too:
// a last group of four or five decimal digits looks like a port.
func bareIPv6(s string, colon int) (a netip.Addr, port uint16, ok bool) {
	if colon < 0 || len(s)-colon < 5 {
		return a, 0, false
	}
	a, err1 := netip.ParseAddr(s[:colon])
	n, err2 := strconv.ParseUint(s[colon+1:], 10, 16)
	return a, uint16(n), err1 == nil && err2 == nil && a.Is6() && n >= 1000
}

// MAC returns the Ethernet address of one host; zero where it is omitted.
func MAC(p *[6]byte) Value { return &macValue{p} }

type macValue struct{ p *[6]byte }

func (v *macValue) Key() any { return v.p }

func (v *macValue) Write() (string, bool) {
	return Quote(net.HardwareAddr(v.p[:]).String()), *v.p != [6]byte{}
}

func (v *macValue) Read(x *Expr) bool {
	const accepted = `an Ethernet address such as "02:00:5e:00:53:01"`
	s, ok := x.Text(accepted)
	if !ok {
		return false
	}
	a, err := net.ParseMAC(s)
	if err != nil || len(a) != 6 {
		return x.Fail("must be %s: six pairs of hexadecimal digits", accepted)
	}
	m := [6]byte(a)
	switch {
	case m == [6]byte{}:
		return x.Fail("is no address of a host; leave gateway_mac out to have it asked for")
	case m[0]&1 != 0:
		return x.Fail("is a group address (the lowest bit of its first byte is set), not one host's")
	}
	*v.p = m
	return true
}
