// Stage parse: finds headers and INT of packets without a template, joins chained buffers,
// counts unsound INT and INT of truncated packets, makes new templates.

package engine

import (
	"encoding/binary"
	"math/bits"

	"intsink/dpdk/mbuf"
	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/quote"
	"intsink/engine/wire/strip"
)

// parse parses packets without a template: it finds their headers and the packets that carry INT.
// It also settles packets that are marked as INT but unsound.
//
//go:noinline
func (w *Worker) parse(p *linkState, b *burst) {
	gone := uint64(0)
	for left := w.fast.Unknown; left != 0; left &= left - 1 {
		j := uint8(bits.TrailingZeros64(left))
		if !w.parseOne(p, b, j) {
			gone |= 1 << j
		}
	}
	w.fast.Drop(gone)
}

// parseOne reports whether packet j has sound INT. One whose first segment may end within
// its headers is joined before: later stages read only that far.
func (w *Worker) parseOne(p *linkState, b *burst, j uint8) bool {
	i := b.fast.At[j]
	m, l, info := b.vec[i], &b.layers[i], &b.info[i]
	pktLen, was := m.PktLen(), m.DataLen()
	m.Pullup(min(pullupLen, pktLen)) // where that is impossible, Parse returns NeedMore
	f := m.Bytes()
	if at := w.recognise(f, pktLen, was); at != fast.None {
		return w.fast.Set(j, at, f)
	}
	status := packet.Parse(f, pktLen, l)
	result := inthdr.NotINT
	switch status {
	case packet.OK:
		result = w.locator.Find(f, l, info, &b.outers[i])
	case packet.NeedMore:
		result = inthdr.NeedMore
	case packet.Truncated:
		if w.truncatedINT(b, int(i)) {
			info.Reason = inthdr.ReasonTruncated
			result = inthdr.Unsound
		}
	}
	if status == packet.TooDeep {
		info.Reason, result = inthdr.ReasonTooDeep, inthdr.Unsound
	}
	switch result {
	case inthdr.Sound:
		w.locator.Classify(info)
		w.sound(b, j, f)
		w.store(b, j, f)
		return true
	case inthdr.Unsound:
		w.unsound(p, b, int(i))
	case inthdr.NotINT:
		if status == packet.OK && w.fast.MayStore() {
			w.fast.StoreNotINT(f, l)
		}
		if status == packet.OK && l.Payload == 0 && p.link.Host != nil && quote.IsError(f, l) && w.locator.Selects(f, l) {
			w.restoreQuote(p, m, l)
		}
		if s := p.link.NetworkStation; s != nil && maybeNeighbor(status, l) {
			s.Hear(f, b.now)
		}
	case inthdr.NeedMore:
		if status == packet.OK || len(f) < min(pullupLen, pktLen) {
			info.Reason = inthdr.ReasonSegmented
			w.unsound(p, b, int(i))
		}
	}
	return false
}

// newQuoter makes what finds INT in quotes.
func newQuoter(r *inthdr.Config) *quote.Quoter {
	c := *r
	c.Cut, c.Only = true, nil // the error around the quote tells which packets those are
	return &quote.Quoter{Locator: inthdr.NewLocator(c)}
}

// restoreQuote takes INT out of the packet that an ICMP error towards the host quotes.
//
//go:noinline
func (w *Worker) restoreQuote(p *linkState, m *mbuf.Mbuf, l *packet.Layers) {
	head, result := w.quoter.Restore(m.Bytes(), l)
	if result < quote.NumResults {
		p.counters.Quotes[result]++
		m.Adj(head)
	}
}

// recognise is the template of a packet whose first segment had so many bytes when it was
// matched, or fast.None.
func (w *Worker) recognise(f []byte, pktLen, had int) uint8 {
	if len(f) != had {
		return w.fast.Recognise(f, pktLen)
	}
	return w.fast.RecogniseNew(f, pktLen)
}

// sound makes size, key and hash of packet j, which was parsed. What may end a connection
// is not common.
func (w *Worker) sound(b *burst, j uint8, f []byte) {
	i := b.fast.At[j]
	info, l := &b.info[i], &b.layers[i]
	info.Size = l.End - info.Removed
	flowKey(&b.fast.Keys[j], f, l, info)
	w.innerKey(&b.fast.Keys[j], f, l, info, &b.outers[i])
	b.fast.Hashes[j] = w.table.Hash(&b.fast.Keys[j])
	b.parsed |= 1 << i
}

// store makes a template of packet j if possible: the packet without INT must have none inside,
// and the template must give the same bytes as the slow path.
func (w *Worker) store(b *burst, j uint8, f []byte) {
	i := b.fast.At[j]
	m, l, info, o := b.vec[i], &b.layers[i], &b.info[i], &b.outers[i]
	if w.fast.MayStore() && info.Type != inthdr.Destination {
		want, left := w.strippedCopy(f, m.PktLen(), l, info, o)
		k := fast.Parsed{Frame: f, PktLen: m.PktLen(), Layers: l, Info: info, Layout: w.locator.Layout(info), Outers: o}
		if w.rules.InnerKeys {
			k.Inner = &b.fast.Keys[j]
		}
		k.NumberAt, k.NumberLen = w.locator.Place(info, inthdr.Sequence)
		if !left && w.fast.Store(&k, want) {
			b.fast.Template[j] = w.fast.Recognise(f, m.PktLen())
		}
	}
	info.Common = info.Common && tcpFlags(f, l, info)&(packet.TCPFIN|packet.TCPRST) == 0
}

// strippedCopy is what a packet is without INT; left: it may have INT inside still.
func (w *Worker) strippedCopy(f []byte, pktLen int, l *packet.Layers, info *inthdr.Info, o *inthdr.Outers) (want []byte, left bool) {
	want = append(w.scratch.copied[:0], f...)
	w.scratch.copied = want
	n := strip.Strip(want, l, info, o)
	if want = want[n:]; !w.locator.Encloses(f, l, info) {
		return want, false
	}
	var layers packet.Layers
	var inside inthdr.Info
	if packet.Parse(want, pktLen-n, &layers) != packet.OK {
		return want, true
	}
	if info.Marking == inthdr.ByGRE && info.Inserted {
		return want, w.locator.Find(want, &layers, &inside, &w.scratch.outers) != inthdr.NotINT
	}
	return want, w.locator.LocateInside(want, &layers, &inside, &w.scratch.outers) != inthdr.NotINT
}

// pullupLen is how much of a chained packet is made contiguous when its first
// segment is shorter: the longest headers that the parser reads and the longest INT
// that a shim can claim.
const pullupLen = 1536

// unsound counts a packet that is marked as INT but cannot be taken as INT;
// it passes untouched or is dropped, as the configuration says.
//
//go:noinline
func (w *Worker) unsound(p *linkState, b *burst, i int) {
	p.counters.Malformed[b.info[i].Reason]++
	if x := w.captured(p); x != nil {
		x.unsound(i, b.info[i].Reason)
	}
	set, d := w.noFlowEvent(p, ToHost, event.Malformed, b.now), noFlowDrop{}
	if w.reading.DropMalformed && p.link.Host != nil { // what comes from a tap goes nowhere
		b.dropPacket(i, DropMalformed, &p.counters.Direction[ToHost])
		d = w.dropped(p, ToHost, b.vec[i], DropMalformed, b.now)
	}
	w.reportFrame(p, ToHost, b, set, b.vec[i], d)
}

// maybeNeighbor reports whether a frame may be ARP or Neighbor Discovery, from what packet.Parse
// has found: no IP, or ICMPv6. It is called only on ports that reports leave by, and only for
// frames that were parsed.
func maybeNeighbor(s packet.Status, l *packet.Layers) bool {
	return s == packet.NotIP || s == packet.OK && l.Proto == packet.ProtoICMPv6
}

const (
	truncatedLen = 256                                 // how much of a packet truncatedINT looks at
	leastIP      = packet.EthernetLen + packet.IPv4Len // Ethernet and the shortest IP header
)

// truncatedINT reports whether packet i, which ends before its IP length says, is marked as
// INT: parsed with the length that there is. It must not be taken as INT.
//
//go:noinline
func (w *Worker) truncatedINT(b *burst, i int) bool {
	pktLen, l := b.vec[i].PktLen(), &b.layers[i]
	f := w.scratch.truncated[:copy(w.scratch.truncated[:], b.vec[i].Bytes())]
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
	return w.locator.Find(f, l, &b.info[i], &b.outers[i]) != inthdr.NotINT
}
