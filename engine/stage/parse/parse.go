// Package parse finds headers and INT of packets without a template, joins chained buffers,
// finds unsound INT and INT of truncated packets, makes new templates.
package parse

import (
	"encoding/binary"
	"intsink/engine/metric"
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/burst"
	"intsink/engine/fast"
	"intsink/engine/watch"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/quote"
	"intsink/engine/wire/strip"
	"intsink/flows"
)

// Counters are what the stage counts of one link.
type Counters struct {
	Quotes [quote.NumResults]uint64 // ICMP errors from the network that quote packets with INT
}

// Metrics are those of a link.
var Metrics = []metric.Of[Counters]{
	{Name: "intsink_icmp_quotes_total", Help: "ICMP errors towards the host that quote a packet with INT: restored, short (the quote ends within INT), malformed or left (no IP packet of its version without INT)", Samples: func(c *Counters, to metric.Samples) {
		for i, n := range c.Quotes {
			to.Add(n, "result", quote.Result(i))
		}
	}},
}

// QuoterOf makes what finds INT in quotes of packets whose INT is as c says.
func QuoterOf(c inthdr.Config) *quote.Quoter {
	if c.IFA != nil { // that of 1.0 cannot be taken out
		x := *c.IFA
		x.Marker, c.IFA = 0, &x
	}
	c.Cut, c.Only = true, nil // the error around the quote tells which packets those are
	return &quote.Quoter{Locator: inthdr.NewLocator(c)}
}

// Stage is the stage of one worker.
type Stage struct {
	quoters   []*quote.Quoter // by link
	table     *flows.Table
	innerKeys bool               // flows inside of tunnels are told apart
	facts     *watch.Facts       // which find the key inside
	counters  []*Counters        // by link
	truncated [truncatedLen]byte // truncatedINT
	copied    []byte             // strippedCopy: a packet that is tried as a template
	outers    inthdr.Outers      // strippedCopy
}

// New makes the stage of a worker with this flow table; Adopt gives it its rules.
func New(table *flows.Table, counters []*Counters) *Stage {
	return &Stage{table: table, counters: counters, facts: watch.NewFacts(0)}
}

// Adopt makes the stage find INT in quotes by these, one for each link, and tell flows inside of
// tunnels apart or not.
func (s *Stage) Adopt(quoters []*quote.Quoter, innerKeys bool) {
	s.quoters, s.innerKeys = quoters, innerKeys
}

// Do parses packets without a template: it finds their headers and the packets that carry INT.
// It also settles packets that are marked as INT but unsound.
//
//go:noinline
func (s *Stage) Do(b *burst.Burst) {
	b.Unlike = true
	gone := uint64(0)
	for left := b.Fast.Unknown; left != 0; left &= left - 1 {
		j := uint8(bits.TrailingZeros64(left))
		if !s.parseOne(b, j) {
			gone |= 1 << j
		}
	}
	b.Fast.Drop(gone)
}

// parseOne reports whether packet j has sound INT. One whose first segment may end within
// its headers is joined before: later stages read only that far.
func (s *Stage) parseOne(b *burst.Burst, j uint8) bool {
	i := b.Fast.At[j]
	m, l, info := b.Vec[i], &b.Layers[i], &b.Info[i]
	pktLen, was := m.PktLen(), m.DataLen()
	f := burst.Headers(m) // where joining is impossible, Parse returns NeedMore
	if at := recognise(b.Fast, f, pktLen, was); at != fast.None {
		return b.Fast.Set(j, at, f)
	}
	status := packet.Parse(f, pktLen, l)
	result := inthdr.NotINT
	switch status {
	case packet.OK:
		result = b.Link.Locator.Find(f, l, info, &b.Outers[i])
	case packet.NeedMore:
		result = inthdr.NeedMore
	case packet.Truncated:
		if s.truncatedINT(b, int(i)) {
			info.Reason = inthdr.ReasonTruncated
			result = inthdr.Unsound
		}
	}
	if status == packet.TooDeep {
		info.Reason, result = inthdr.ReasonTooDeep, inthdr.Unsound
	}
	switch result {
	case inthdr.Sound:
		b.Link.Locator.Classify(info)
		s.sound(b, j, f)
		s.store(b, j, f)
		return true
	case inthdr.Unsound:
		b.Unsound(int(i))
	case inthdr.NotINT:
		if status == packet.OK && b.Fast.MayStore() {
			b.Fast.StoreNotINT(f, l)
		}
		if status == packet.OK && l.Payload == 0 && b.Link.Host != nil && quote.IsError(f, l) && b.Link.Locator.Selects(f, l) {
			s.restoreQuote(b, m, l)
		}
		if x := b.Link.NetworkStation; x != nil && burst.MaybeNeighbor(status, l) {
			x.Hear(f, b.Now)
		}
	case inthdr.NeedMore:
		if status == packet.OK || len(f) < burst.HeadersLen(pktLen) {
			info.Reason = inthdr.ReasonSegmented
			b.Unsound(int(i))
		}
	}
	return false
}

// restoreQuote takes INT out of the packet that an ICMP error towards the host quotes.
//
//go:noinline
func (s *Stage) restoreQuote(b *burst.Burst, m *mbuf.Mbuf, l *packet.Layers) {
	head, result := s.quoters[b.Link.Index].Restore(m.Bytes(), l)
	if result < quote.NumResults {
		s.counters[b.Link.Index].Quotes[result]++
		m.Adj(head)
	}
}

// recognise is the template of a packet whose first segment had so many bytes when it was
// matched, or fast.None.
func recognise(p *fast.Path, f []byte, pktLen, had int) uint8 {
	if len(f) != had {
		return p.Recognise(f, pktLen)
	}
	return p.RecogniseNew(f, pktLen)
}

// sound makes size, key and hash of packet j, which was parsed. What may end a connection
// is not common.
func (s *Stage) sound(b *burst.Burst, j uint8, f []byte) {
	i := b.Fast.At[j]
	info, l := &b.Info[i], &b.Layers[i]
	info.Size = l.End - info.Removed
	burst.SetKey(&b.Fast.Keys[j], f, l, info)
	if s.innerKeys {
		s.facts.Inner(&watch.Packet{Frame: f, Layers: l, Info: info, Outers: &b.Outers[i], Key: &b.Fast.Keys[j], Locator: b.Link.Locator})
	}
	b.Fast.Hashes[j] = s.table.Hash(&b.Fast.Keys[j])
	b.Parsed |= 1 << i
}

// store makes a template of packet j if possible: the packet without INT must have none inside,
// and the template must give the same bytes as the slow path.
func (s *Stage) store(b *burst.Burst, j uint8, f []byte) {
	i := b.Fast.At[j]
	m, l, info, o := b.Vec[i], &b.Layers[i], &b.Info[i], &b.Outers[i]
	if b.Fast.MayStore() && info.Type != inthdr.Destination {
		want, left := s.strippedCopy(b, f, m.PktLen(), l, info, o)
		k := fast.Parsed{Frame: f, PktLen: m.PktLen(), Layers: l, Info: info, Layout: b.Link.Locator.Layout(info), Outers: o}
		if s.innerKeys {
			k.Inner = &b.Fast.Keys[j]
		}
		k.IFA, k.Longest = b.Link.Locator.IFALayout(f, info)
		k.NumberAt, k.NumberLen = b.Link.Locator.Place(info, inthdr.Sequence)
		if !left && b.Fast.Store(&k, want) {
			b.Fast.Template[j] = b.Fast.Recognise(f, m.PktLen())
		}
	}
	info.Common = info.Common && burst.TCPFlags(f, l, info)&(packet.TCPFIN|packet.TCPRST) == 0
}

// strippedCopy is what a packet is without INT; left: it may have INT inside still.
func (s *Stage) strippedCopy(b *burst.Burst, f []byte, pktLen int, l *packet.Layers, info *inthdr.Info, o *inthdr.Outers) (want []byte, left bool) {
	want = append(s.copied[:0], f...)
	s.copied = want
	n := strip.Strip(want, l, info, o)
	if want = want[n:]; !b.Link.Locator.Encloses(f, l, info) {
		return want, false
	}
	var layers packet.Layers
	var inside inthdr.Info
	if packet.Parse(want, pktLen-n, &layers) != packet.OK {
		return want, true
	}
	if b.Link.Locator.LeavesOther(info) {
		return want, b.Link.Locator.Find(want, &layers, &inside, &s.outers) != inthdr.NotINT
	}
	return want, b.Link.Locator.LocateInside(want, &layers, &inside, &s.outers) != inthdr.NotINT
}

const (
	truncatedLen = 256                                 // how much of a packet truncatedINT looks at
	leastIP      = packet.EthernetLen + packet.IPv4Len // Ethernet and the shortest IP header
)

// truncatedINT reports whether packet i, which ends before its IP length says, is marked as
// INT: parsed with the length that there is. It must not be taken as INT.
//
//go:noinline
func (s *Stage) truncatedINT(b *burst.Burst, i int) bool {
	pktLen, l := b.Vec[i].PktLen(), &b.Layers[i]
	f := s.truncated[:copy(s.truncated[:], b.Vec[i].Bytes())]
	at, left := int(l.L3), pktLen-int(l.L3)
	if len(f) < leastIP || at+6 > len(f) || left > packet.MaxFrame {
		return false
	}
	switch f[at] >> 4 {
	case 4:
		binary.BigEndian.PutUint16(f[at+2:], uint16(left))
	case 6:
		binary.BigEndian.PutUint16(f[at+4:], uint16(max(left-40, 0)))
	}
	if packet.Parse(f, pktLen, l) != packet.OK {
		return false
	}
	return b.Link.Locator.Find(f, l, &b.Info[i], &b.Outers[i]) != inthdr.NotINT
}
