// Table: mitigation rules compiled to bit vectors; Find, the first that selects a packet.

package mitigate

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"intsink/flows"
)

// Table is rules, compiled. Nothing changes it: workers share it.
type Table struct {
	rules []*Rule
	words int // of a set

	protocol, sourcePort, destinationPort, device, mac index
	source, destination                                [2]index // IPv4, IPv6

	noIP, noDevice set // those that do not ask for it
	asksDevice     bool
}

// New compiles rules, at most MaxRules: the first that selects a packet wins. Without
// any there is no Table: nil.
func New(rules []*Rule) *Table {
	if len(rules) == 0 {
		return nil
	}
	rules = rules[:min(len(rules), MaxRules)]
	t := &Table{rules: rules, words: (len(rules) + 63) / 64}
	t.noIP, t.noDevice = make(set, t.words), make(set, t.words)
	each := func(spans func(m *Match) []span) index {
		all := make([][]span, len(rules))
		for i, r := range rules {
			all[i] = spans(&r.Match)
		}
		return newIndex(all, t.words)
	}
	for v := range t.source {
		t.source[v] = each(func(m *Match) []span { return prefixSpans(m.Source, v == 0) })
		t.destination[v] = each(func(m *Match) []span { return prefixSpans(m.Destination, v == 0) })
	}
	t.protocol = each(func(m *Match) []span { return spansOf(m.Protocol, single[uint8]) })
	t.sourcePort = each(func(m *Match) []span { return spansOf(m.SourcePort, PortRange.span) })
	t.destinationPort = each(func(m *Match) []span { return spansOf(m.DestinationPort, PortRange.span) })
	t.device = each(func(m *Match) []span { return spansOf(m.Device, single[uint64]) })
	t.mac = each(func(m *Match) []span { return spansOf(m.SourceMAC, single[uint64]) })
	for i, r := range rules {
		m := &r.Match
		if len(m.Source)+len(m.Destination)+len(m.Protocol)+len(m.SourcePort)+len(m.DestinationPort) == 0 {
			t.noIP.put(i)
		}
		if len(m.Device) == 0 {
			t.noDevice.put(i)
		}
		t.asksDevice = t.asksDevice || len(m.Device) > 0
	}
	return t
}

// AsksDevice tells whether some rule asks for the id of a device.
func (t *Table) AsksDevice() bool { return t.asksDevice }

// Packet is what rules ask of a packet.
type Packet struct {
	Key       *flows.Key // nil: no IP packet
	SourceMAC uint64
	HasDevice bool
	Device    uint64
}

// Find is the first rule that selects p and has not ended at now; nil: there is none.
func (t *Table) Find(p *Packet, now int64) *Rule {
	var room [MaxRules / 64]uint64
	s := set(room[:t.words])
	copy(s, t.mac.at(point{0, p.SourceMAC}))
	if p.HasDevice {
		s.keep(t.device.at(point{0, p.Device}))
	} else {
		s.keep(t.noDevice)
	}
	if k := p.Key; k == nil {
		s.keep(t.noIP)
	} else {
		v := k.Version() >> 1 & 1 // 4: 0, 6: 1
		s.keep(t.protocol.at(point{0, uint64(k.Proto())}))
		s.keep(t.destination[v].at(k.Dst()))
		s.keep(t.source[v].at(k.Src()))
		s.keep(t.destinationPort.at(point{0, uint64(k.DstPort())}))
		s.keep(t.sourcePort.at(point{0, uint64(k.SrcPort())}))
	}
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if r := t.rules[64*i+bits.TrailingZeros64(word)]; now < r.Expires() {
				return r
			}
		}
	}
	return nil
}

// SourceMAC is that of an Ethernet frame; zero where it is too short for one.
func SourceMAC(f []byte) uint64 {
	if len(f) < 12 {
		return 0
	}
	return binary.BigEndian.Uint64(f[4:]) & (1<<48 - 1)
}

// spansOf are those of a list; nil where it is empty.
func spansOf[T any](list []T, f func(T) span) (out []span) {
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}

func single[T uint8 | uint64](n T) span {
	p := point{0, uint64(n)}
	return span{p, p}
}

func (r PortRange) span() span { return span{point{0, uint64(r.First)}, point{0, uint64(r.Last)}} }

// prefixSpans are the prefixes of one IP version: nil, for every address, where there are
// none of any; empty, for none, where all are of the other version.
func prefixSpans(list []netip.Prefix, four bool) []span {
	if len(list) == 0 {
		return nil
	}
	out := []span{}
	for _, p := range list {
		if p.Addr().Is4() == four {
			out = append(out, prefixSpan(p))
		}
	}
	return out
}

func prefixSpan(p netip.Prefix) span {
	first := words(p.Masked().Addr())
	last := first
	host := p.Addr().BitLen() - p.Bits()
	last[1] |= 1<<min(host, 64) - 1 // a shift of 64 gives zero: all ones
	if host > 64 {
		last[0] |= 1<<(host-64) - 1
	}
	return span{first, last}
}

// words is an address as flows.Key has it.
func words(a netip.Addr) point {
	if a.Is4() {
		b := a.As4()
		return point{0, uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return point{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}
