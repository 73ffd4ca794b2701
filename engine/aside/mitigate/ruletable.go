// Table: mitigation rules compiled to bit vectors; Find, the first that selects a packet.

package mitigate

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"intsink/engine/classify"
	"intsink/flows"
)

// Table is rules, compiled. Nothing changes it: workers share it.
type Table struct {
	rules []*Rule
	words int // of a set

	protocol, sourcePort, destinationPort, device, mac classify.Index[set]
	source, destination                                [2]classify.Index[set] // IPv4, IPv6

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
	each := func(spans func(m *Match) []classify.Span) classify.Index[set] {
		all := make([][]classify.Span, len(rules))
		for i, r := range rules {
			all[i] = spans(&r.Match)
		}
		return classify.New(all, t.sets, (*set).put)
	}
	for v := range t.source {
		t.source[v] = each(func(m *Match) []classify.Span { return classify.Prefixes(m.Source, v == 0) })
		t.destination[v] = each(func(m *Match) []classify.Span { return classify.Prefixes(m.Destination, v == 0) })
	}
	t.protocol = each(func(m *Match) []classify.Span { return classify.Spans(m.Protocol, classify.Number[uint8]) })
	t.sourcePort = each(func(m *Match) []classify.Span { return classify.Spans(m.SourcePort, classify.Range[uint16]) })
	t.destinationPort = each(func(m *Match) []classify.Span { return classify.Spans(m.DestinationPort, classify.Range[uint16]) })
	t.device = each(func(m *Match) []classify.Span { return classify.Spans(m.Device, classify.Number[uint64]) })
	t.mac = each(func(m *Match) []classify.Span { return classify.Spans(m.SourceMAC, classify.Number[uint64]) })
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

// set is a set of rules by their place; as many words as the Table has.
type set []uint64

func (s *set) put(i int) { (*s)[i/64] |= 1 << (i % 64) }

func (s set) keep(o *set) {
	for i, word := range *o {
		s[i] &= word
	}
}

// sets makes n empty sets, side by side.
func (t *Table) sets(n int) []set {
	room := make(set, n*t.words)
	all := make([]set, n)
	for i := range all {
		all[i] = room[i*t.words:][:t.words:t.words]
	}
	return all
}

// AsksDevice reports whether some rule asks for the id of a device.
func (t *Table) AsksDevice() bool { return t.asksDevice }

// Packet is what rules ask of a packet.
type Packet struct {
	Key       *flows.Key // nil: no IP packet
	SourceMAC uint64
	HasDevice bool
	Device    uint64
}

// Find returns the first rule that selects p and has not ended at now; nil: there is none.
func (t *Table) Find(p *Packet, now int64) *Rule {
	var room [MaxRules / 64]uint64
	s := set(room[:t.words])
	copy(s, *t.mac.At(classify.Point{0, p.SourceMAC}))
	if p.HasDevice {
		s.keep(t.device.At(classify.Point{0, p.Device}))
	} else {
		s.keep(&t.noDevice)
	}
	if k := p.Key; k == nil {
		s.keep(&t.noIP)
	} else {
		t.keepByKey(s, k)
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

// keepByKey keeps the rules of s that select the key of a flow.
func (t *Table) keepByKey(s set, k *flows.Key) {
	v := k.Version() >> 1 & 1 // 4: 0, 6: 1
	s.keep(t.protocol.At(classify.Point{0, uint64(k.Proto())}))
	s.keep(t.destination[v].At(k.Dst()))
	s.keep(t.source[v].At(k.Src()))
	s.keep(t.destinationPort.At(classify.Point{0, uint64(k.DstPort())}))
	s.keep(t.sourcePort.At(classify.Point{0, uint64(k.SrcPort())}))
}

// MaySelect tells whether some rule may select packets with this key: by what else they are, it may
// select some of them or none.
func (t *Table) MaySelect(k *flows.Key) bool {
	var room [MaxRules / 64]uint64
	s := set(room[:t.words])
	for i := range s {
		s[i] = math.MaxUint64
	}
	t.keepByKey(s, k)
	return slices.ContainsFunc(s, func(word uint64) bool { return word != 0 })
}

// SourceMAC returns the source MAC address of an Ethernet frame, or zero if f is too short.
func SourceMAC(f []byte) uint64 {
	if len(f) < 12 {
		return 0
	}
	return binary.BigEndian.Uint64(f[4:]) & (1<<48 - 1)
}
