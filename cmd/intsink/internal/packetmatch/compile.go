// Compiles a Match for workers: prefixes, ports, device ids, MACs.

package packetmatch

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"intsink/cmd/intsink/internal/control"
	"intsink/engine/selector"
)

// maxEntries is how many entries each list of a match may have.
const maxEntries = 64

// Empty reports whether m has no condition, and so selects every packet.
func (m *Match) Empty() bool {
	return len(m.Source)+len(m.Destination)+len(m.Protocol)+len(m.SourcePort)+len(m.DestinationPort)+len(m.DeviceID)+len(m.SourceMAC) == 0
}

// Compile returns the match in the form that workers compare.
func (m *Match) Compile() (out selector.Match, err error) {
	parse(&out.Source, "source", m.Source, prefix, &err)
	parse(&out.Destination, "destination", m.Destination, prefix, &err)
	parse(&out.Protocol, "protocol", m.Protocol, protocol, &err)
	parse(&out.SourcePort, "source_port", m.SourcePort, ports, &err)
	parse(&out.DestinationPort, "destination_port", m.DestinationPort, ports, &err)
	parse(&out.Device, "device_id", m.DeviceID, device, &err)
	parse(&out.SourceMAC, "source_mac", m.SourceMAC, MAC, &err)
	if err == nil && m.Empty() {
		err = errors.New(`match is empty, which would select every packet: name a source, destination, protocol, source_port, destination_port, device_id or source_mac (all of IPv4: "destination": "0.0.0.0/0")`)
	}
	return out, err
}

// parse appends f of each text to all. *err keeps the first error.
func parse[T any](all *[]T, name string, texts Texts, f func(string) (T, string), err *error) {
	if len(texts) > maxEntries && *err == nil {
		*err = control.WrongField("match."+name, ": has %d entries; at most %d: make more rules of it", len(texts), maxEntries)
		return
	}
	for _, s := range texts {
		v, must := f(s)
		if must != "" && *err == nil {
			*err = control.WrongField("match."+name, " = %.60q: %s", s, must)
		}
		*all = append(*all, v)
	}
}

func prefix(s string) (p netip.Prefix, must string) {
	p, err := netip.ParsePrefix(s)
	if a, alone := netip.ParseAddr(s); alone == nil && a.Zone() == "" {
		a = a.Unmap()
		p, err = netip.PrefixFrom(a, a.BitLen()), nil
	}
	switch {
	case err != nil || p.Addr().Is4In6():
		return p, `must be an address or a prefix, such as "192.0.2.0/24"`
	case p != p.Masked():
		return p, fmt.Sprintf("has bits behind the prefix: write %v", p.Masked())
	}
	return p, ""
}

var protocols = map[string]uint8{"icmp": 1, "tcp": 6, "udp": 17, "gre": 47, "esp": 50, "icmpv6": 58, "sctp": 132}

func protocol(s string) (n uint8, must string) {
	if n, ok := protocols[strings.ToLower(s)]; ok {
		return n, ""
	}
	x, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return 0, "must be tcp, udp, icmp, icmpv6, sctp, gre, esp, or a number from 0 to 255"
	}
	return uint8(x), ""
}

func ports(s string) (r selector.PortRange, must string) {
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		last = first
	}
	a, err := strconv.ParseUint(first, 10, 16)
	b, err2 := strconv.ParseUint(last, 10, 16)
	if err != nil || err2 != nil || a > b {
		return r, `must be a port, or a range such as "8000-8099"`
	}
	return selector.PortRange{First: uint16(a), Last: uint16(b)}, ""
}

func device(s string) (n uint64, must string) {
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil || strings.HasPrefix(s, "0") && len(s) > 1 && s[1] != 'x' && s[1] != 'X' || strings.Contains(s, "_") {
		return 0, `must be a number of up to 64 bits, or "0x..."`
	}
	return n, ""
}

// MAC reads the address of an Ethernet header; must says what is wrong with it.
func MAC(s string) (n uint64, must string) {
	b, err := net.ParseMAC(s)
	if err != nil || len(b) != 6 {
		return 0, `must be a MAC address, such as "02:00:5e:00:53:01"`
	}
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	return n, ""
}
