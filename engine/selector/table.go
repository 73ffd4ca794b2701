// Table: rules compiled to bit vectors; Find, the first that selects a packet.

package selector

import (
	"encoding/binary"
	"math"
	"math/bits"

	"intsink/engine/classify"
	"intsink/flows"
)

// None is the place of no rule.
const None = -1

// Table is rules, compiled. Nothing changes it: workers share it.
type Table struct {
	rules []*Rule
	words int // of a set

	protocol, sourcePort, destinationPort, device, mac classify.Index[set]
	source, destination                                [2]classify.Index[set] // IPv4, IPv6

	noIP, noDevice set    // those that do not ask for it
	uncut          [2]set // those that fit each key, by fields that no rule cuts: IPv4, IPv6
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
	for v := range t.uncut {
		t.uncut[v] = make(set, t.words)
		for i := range t.uncut[v] {
			t.uncut[v][i] = math.MaxUint64
		}
		for _, x := range []*classify.Index[set]{&t.source[v], &t.destination[v]} {
			if !x.Cuts() {
				t.uncut[v].keep(x.At(classify.Point{}))
			}
		}
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

// fits are the sets of rules that a packet fits by one field each.
type fits struct {
	sets [8]*set
	n    int
}

func (x *fits) add(s *set) {
	x.sets[x.n%len(x.sets)] = s
	x.n++
}

// word is the rules of one word that are in all sets.
func (x *fits) word(i int) uint64 {
	word := uint64(math.MaxUint64)
	for _, s := range x.sets[:x.n] {
		word &= (*s)[i]
	}
	return word
}

// Find returns the place of the first rule that selects p and has not ended at now; None: there is none.
func (t *Table) Find(p *Packet, now int64) int {
	var x fits
	if t.mac.Cuts() {
		x.add(t.mac.At(classify.Point{0, p.SourceMAC}))
	}
	if p.HasDevice {
		x.add(t.device.At(classify.Point{0, p.Device}))
	} else if t.asksDevice {
		x.add(&t.noDevice)
	}
	if k := p.Key; k == nil {
		x.add(&t.noIP)
	} else {
		t.byKey(&x, k)
	}
	for i := range t.words {
		for word := x.word(i); word != 0; word &= word - 1 {
			if at := 64*i + bits.TrailingZeros64(word); now < t.rules[at].Expires() {
				return at
			}
		}
	}
	return None
}

// byKey adds what the key of a flow fits. All values of a field that no rule cuts fit the same: those of addresses none, where all rules
// have addresses of the other version.
func (t *Table) byKey(x *fits, k *flows.Key) {
	v := k.Version() >> 1 & 1 // 4: 0, 6: 1
	x.add(&t.uncut[v])
	if t.protocol.Cuts() {
		x.add(t.protocol.At(classify.Point{0, uint64(k.Proto())}))
	}
	if i := &t.destination[v]; i.Cuts() {
		x.add(i.At(k.Dst()))
	}
	if i := &t.source[v]; i.Cuts() {
		x.add(i.At(k.Src()))
	}
	if t.destinationPort.Cuts() {
		x.add(t.destinationPort.At(classify.Point{0, uint64(k.DstPort())}))
	}
	if t.sourcePort.Cuts() {
		x.add(t.sourcePort.At(classify.Point{0, uint64(k.SrcPort())}))
	}
}

// AsksKeyAlone tells whether the rules ask for nothing but what is in the key of a flow.
func (t *Table) AsksKeyAlone() bool { return !t.mac.Cuts() && !t.asksDevice }

// MaySelect tells whether some rule may select packets with this key: by what else they are, it may
// select some of them or none.
func (t *Table) MaySelect(k *flows.Key) bool { return t.FirstByKey(k) != None }

// FirstByKey is the place of the first rule that may select packets with this key, be it one that has ended; None: no rule may.
func (t *Table) FirstByKey(k *flows.Key) int {
	var x fits
	t.byKey(&x, k)
	for i := range t.words {
		if word := x.word(i); word != 0 {
			return 64*i + bits.TrailingZeros64(word)
		}
	}
	return None
}

// SourceMAC returns the source MAC address of an Ethernet frame, or zero if f is too short.
func SourceMAC(f []byte) uint64 {
	if len(f) < 12 {
		return 0
	}
	return binary.BigEndian.Uint64(f[4:]) & (1<<48 - 1)
}
