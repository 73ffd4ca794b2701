package conf

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// hex64 is a 64-bit number in a string of hexadecimal digits.
func hex64(p **uint64) value { return &hexValue{p} }

type hexValue struct{ p **uint64 }

func (v *hexValue) key() any { return v.p }

func (v *hexValue) write() (string, bool) {
	if *v.p == nil {
		return "", false
	}
	return fmt.Sprintf(`"0x%016x"`, **v.p), true
}

func (v *hexValue) read(x *expr) bool {
	const accepted = `64 bits as a string of 16 hexadecimal digits, such as "0x0102030405060708"`
	s, ok := x.text(accepted)
	if !ok {
		return false
	}
	digits, prefixed := strings.CutPrefix(strings.ToLower(s), "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || !prefixed || len(digits) != 16 {
		return x.fail("must be %s", accepted)
	}
	*v.p = &n
	return true
}

// prefixes is a list of IP prefixes; an address alone is a prefix of full length.
func prefixes(p *[]netip.Prefix) value {
	return &listValue[netip.Prefix]{
		p: p, single: true, accepted: `prefixes such as "10.0.0.0/8" or "2001:db8::/32"`, same: equal[netip.Prefix],
		parse:  one(parsePrefix),
		format: func(n netip.Prefix) string { return quote(n.String()) },
	}
}

func parsePrefix(x *expr) (netip.Prefix, bool) {
	const accepted = `an IPv4 or IPv6 prefix such as "10.0.0.0/8" or "2001:db8::/32"`
	s, ok := x.text(accepted)
	if !ok {
		return netip.Prefix{}, false
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	n, err := netip.ParsePrefix(s)
	if err != nil || n.Addr().Is4In6() {
		return netip.Prefix{}, x.fail("must be %s", accepted)
	}
	if m := n.Masked(); m != n {
		return netip.Prefix{}, x.fail("has bits set behind its length; did you mean %q?", m)
	}
	return n, true
}

// address is an IP address; the zero Addr where it is omitted.
func address(p *netip.Addr) value { return &addressValue{p} }

type addressValue struct{ p *netip.Addr }

func (v *addressValue) key() any { return v.p }

func (v *addressValue) write() (string, bool) {
	return quote(v.p.String()), v.p.IsValid()
}

func (v *addressValue) read(x *expr) bool {
	const accepted = `an IP address such as "192.0.2.1"`
	s, ok := x.text(accepted)
	if !ok {
		return false
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return x.fail("must be %s", accepted)
	}
	*v.p = a.Unmap()
	return true
}

// endpoint is the address of a collector, "host:port". A host name is resolved
// when everything has been read.
func endpoint(c *Collector) value { return &endpointValue{c} }

type endpointValue struct{ c *Collector }

func (v *endpointValue) key() any              { return &v.c.Address }
func (v *endpointValue) write() (string, bool) { return quote(v.c.Address.String()), true }

func (v *endpointValue) read(x *expr) bool {
	s, ok := x.text(`"host:port"`)
	if !ok {
		return false
	}
	host, port, ok := splitEndpoint(x, s)
	if !ok {
		return false
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return v.set(x, a.Unmap(), port)
	}
	x.d.unresolved = append(x.d.unresolved, unresolved{collector: v.c, host: host, port: port, at: *x})
	return true
}

func (v *endpointValue) set(x *expr, a netip.Addr, port uint16) bool {
	if !sendable(x, a) {
		return false
	}
	v.c.Address = netip.AddrPortFrom(a, port)
	return true
}

// sendable reports an address that the kernel does not send reports to.
func sendable(x *expr, a netip.Addr) bool {
	switch {
	case a.IsUnspecified():
		return x.fail("%s stands for no host: reports cannot be sent to it", short(a.String()))
	case a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return x.fail("%s is the broadcast address: the kernel refuses to send reports to it; name one collector", a)
	case a.IsMulticast():
		x.d.report(Warning, x.e.Range(), "%s = %s: a multicast address: the kernel sends reports to it on one interface of its choice, "+
			"and no router passes them on (TTL 1)",
			x.where, x.source())
	}
	return true
}

// splitEndpoint takes "host:port" apart and says what is missing.
func splitEndpoint(x *expr, s string) (host string, port uint16, ok bool) {
	colon := strings.LastIndexByte(s, ':')
	if a, port, bare := bareIPv6(s, colon); bare {
		return "", 0, x.fail("has an IPv6 address without brackets; write it as %q", short(netip.AddrPortFrom(a, port).String()))
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return "", 0, x.fail("has no port; write it as %q", short(netip.AddrPortFrom(a, 8555).String()))
	}
	if colon < 0 {
		return "", 0, x.fail("has no port; write it as %q", short(s)+":8555")
	}
	host, digits := s[:colon], s[colon+1:]
	bracketed := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
	if bracketed {
		host = host[1 : len(host)-1]
	}
	if host == "" || strings.ContainsAny(host, "[]/ ") || strings.Contains(host, ":") != bracketed {
		return "", 0, x.fail(`must be "host:port", with brackets around an IPv6 address: "192.0.2.10:8555", "[2001:db8::1]:8555"`)
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 {
		return "", 0, x.fail("the port must be a number from 1 to 65535")
	}
	return host, uint16(n), true
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

// sourcePort is the UDP source port of reports: a number, or "hash".
func sourcePort(c *Collector) value { return &sourcePortValue{c} }

type sourcePortValue struct{ c *Collector }

func (v *sourcePortValue) key() any { return &v.c.SourcePort }

func (v *sourcePortValue) write() (string, bool) {
	switch v.c.SourcePortMode {
	case "hash":
		return `"hash"`, true
	case "fixed":
		return strconv.Itoa(int(v.c.SourcePort)), true
	}
	return "", false
}

func (v *sourcePortValue) read(x *expr) bool {
	const accepted = `a number from 0 to 65535, or "hash"`
	s, ok := x.textOrNumber(accepted)
	if !ok {
		return false
	}
	if s == "hash" {
		v.c.SourcePort, v.c.SourcePortMode = 0, "hash"
		return true
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return x.fail("must be %s%s", accepted, didYouMean(s, []string{"hash"}, "%q"))
	}
	v.c.SourcePort, v.c.SourcePortMode = uint16(n), "fixed"
	return true
}

// mac is the Ethernet address of one host; zero where it is omitted.
func mac(p *[6]byte) value { return &macValue{p} }

type macValue struct{ p *[6]byte }

func (v *macValue) key() any { return v.p }

func (v *macValue) write() (string, bool) {
	return quote(net.HardwareAddr(v.p[:]).String()), *v.p != [6]byte{}
}

func (v *macValue) read(x *expr) bool {
	const accepted = `an Ethernet address such as "02:00:5e:00:53:01"`
	s, ok := x.text(accepted)
	if !ok {
		return false
	}
	a, err := net.ParseMAC(s)
	if err != nil || len(a) != 6 {
		return x.fail("must be %s: six pairs of hexadecimal digits", accepted)
	}
	m := [6]byte(a)
	switch {
	case m == [6]byte{}:
		return x.fail("is no address of a host; leave gateway_mac out to have it asked for")
	case m[0]&1 != 0:
		return x.fail("is a group address (the lowest bit of its first byte is set), not one host's")
	}
	*v.p = m
	return true
}
