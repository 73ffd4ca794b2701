// draft, continued: which words of the hops, the sequence number and the facts a template compares,
// or reads at an offset.

package fast

import (
	"encoding/binary"
	"unsafe"

	"intsink/engine/event"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/flows"
)

// hops adds the place of the hops, and the offset of each value in them, to the template.
func (m *draft) hops(i *inthdr.Info, l *inthdr.Layout) {
	t := &m.t
	t.hops, t.inFlow = noHops, noHops<<pathHops
	if i.Type == inthdr.MX {
		t.types = oneMX
	}
	if !i.Common || i.HopLen > longestCompared {
		t.sound = bit(i.Hops == 0 && i.Reason == inthdr.ReasonNone && !i.Discard && !i.HopExceeded && !i.MTUExceeded)
		return
	}
	t.common, t.sound, t.stack, t.hopLen, t.hops, t.allHops = 1, 1, uint32(i.Stack), uint32(i.HopLen), uint32(i.Hops), i.Hops
	t.path = event.PathHops(int(i.Hops), l)
	t.latency, t.queue, t.byBuffer = uint8(max(l.HopLatency, 0)), i.QueueAt, bit(l.Queue < 0)
	t.ingress, t.egress = uint8(max(l.IngressTimestamp, 0)), uint8(max(l.EgressTimestamp, 0))
	t.known = -int32(i.Hops) * int32(unsafe.Sizeof(flows.Hop{}))
	if l.Interfaces >= 0 {
		t.tx = i.TxAt
	}
	if i.Format == inthdr.Format1 { // of 32 bits, which only package event reads
		t.narrow = bit(t.ingress != 0 && t.egress != 0 && l.Interfaces >= 0)
		t.ingress, t.egress = 0, 0
	}
	t.hopWords()
	if t.ingress != 0 && t.egress != 0 && l.Interfaces >= 0 {
		t.links, t.linkFrom = (t.hops-1)*t.hopLen, t.stack+t.hops*t.hopLen
		t.linkOut, t.linkIn = t.linkFrom+uint32(t.egress), t.linkFrom-t.hopLen+uint32(t.ingress)
	}
	if read := int(t.stack+(t.hops-1)*t.hopLen) - 4 + len(t.lanes); read > len(m.b) { // of the last hop
		t.hops, t.inFlow, t.known = noHops, noHops<<pathHops, 0
	} else {
		m.need(read)
		t.inFlow = uint64(t.path) << pathHops
		if t.latency == 0 && l.IngressTimestamp < 0 { // these hops tell no end-to-end latency, so a flow has no reference for it
			t.inFlow |= uint64(flows.EndToEnd) << flagsFrom
		}
	}
}

// number is where the sequence number stands: only the general path looks at it.
func (m *draft) number(p *Parsed) {
	if t := &m.t; p.NumberLen > 0 && t.sound != 0 {
		t.numberAt, t.numberBits, t.hops = uint16(p.NumberAt+p.NumberLen-8), uint8(min(p.NumberLen, 8)*8), noHops
		t.inFlow = noHops << pathHops
	}
}

// facts are what watches may ask for besides the key. Those of a tunnel that goes with INT are
// of headers behind it, and a device id is one of domain metadata: neither has a place here.
func (m *draft) facts(p *Parsed) {
	t, i, l := &m.t, p.Info, p.Layers
	t.facts, t.inside = bit(i.DSInstruction == 0 && !i.Unwraps()), bit(i.Depth > 0 || m.carried)
	outermost := l
	if i.Depth > 0 {
		outermost = &p.Outers[0]
	}
	if outermost.VLANs > 0 {
		t.vlanAt = packet.EthernetLen
	}
	if p.Layout != nil && !p.Layout.HasRest && isIP(binary.BigEndian.Uint16(m.b[outermost.L3-2:])) {
		t.tells = tellsHops
	}
	if t.ifa == 0 && t.numberBits == 0 {
		if t.tells |= comparedAlone; t.tells&tellsHops != 0 {
			t.tells |= tellsCrossed
		}
	}
	if m.mark(outermost); t.tells&tellsCrossed != 0 && t.queue != 0 && t.byBuffer == 0 {
		t.tells |= tellsAgain
	}
	if t.dscp = i.DSCP; i.Marking != inthdr.ByDSCP {
		t.dscpAt, t.dscpShift = l.L3, 2
		if l.IPVersion == 6 {
			t.dscpShift = 6
		}
	}
}

// mark makes packets that a queue has marked (ECN: CE) others than those that none has: outermost has the field. Its lower bit is
// compared, and where it is set, the upper one: so a template has all packets that are not ECN-capable or ECT(0), all of ECT(1), or
// all of CE, and a packet that is not marked is compared by as many steps as without. A marked one is expected of no flow, so the
// shortest loop ends there.
func (m *draft) mark(outermost *packet.Layers) {
	t, at, mask := &m.t, int(outermost.L3), byte(packet.CE)
	if t.ecnAt = outermost.L3; outermost.IPVersion == 6 {
		t.ecnShift = 4
	}
	at, mask = at+1, mask<<t.ecnShift
	lower := mask & (mask >> 1)
	if m.same(at, lower); m.b[at]&lower == 0 {
		return
	}
	if m.same(at, mask); m.b[at]&mask == mask {
		t.marked, t.inFlow = 1, t.inFlow|noHops<<pathHops
		t.types += oneMarked
	}
}

// Template.tells: FAST_ALONE, FAST_TELLS, FAST_HOPS, FAST_AGAIN.
const (
	comparedAlone = 1 << iota
	tellsCrossed
	tellsHops
	tellsAgain
)

func isIP(etherType uint16) bool {
	return etherType == packet.EtherTypeIPv4 || etherType == packet.EtherTypeIPv6
}

// hopWords says where a hop has what is compared with the flow, and which of its last eight words have thresholds.
func (t *Template) hopWords() {
	t.lanes = [16]uint8{4, 5, 6, 7, 8, 9, 10, 11, noByte, noByte, noByte, noByte, noByte, noByte, noByte, noByte}
	if t.path&event.NodesAlone != 0 {
		copy(t.lanes[4:8], t.lanes[12:])
	}
	if at := t.latency; at != 0 {
		copy(t.lanes[8:12], []uint8{at + 7, at + 6, at + 5, at + 4})
	} else if t.queue != 0 {
		t.sumFrom[1] = byQueue
	}
	for i := range t.hopWord {
		at := int(t.hopLen) - len(t.hopOrder) + 4*i
		copy(t.hopOrder[4*i:], []uint8{3, 2, 1, 0})
		for k := range 4 {
			t.hopOrder[4*i+k] += uint8(4 * i % 16) // vectors are ordered by halves
		}
		switch {
		case at == int(t.latency) && t.latency != 0:
			t.hopWord[i] = event.MostLatency
		case at == int(t.queue) && t.queue != 0:
			t.hopWord[i] = event.MostQueue
			t.hopOrder[4*i+3] = noByte // the queue's number
		case at == int(t.tx) && t.tx != 0:
			t.hopWord[i] = event.MostTx
		default:
			t.hopWord[i] = event.MostUnbounded
		}
	}
}

const (
	byQueue = 1 << 40 // FAST_BY_QUEUE

	// longestCompared are the bytes of the longest hop whose queue and utilization are in hopOrder: all that the
	// specification has. Hops with metadata of a domain may be longer: Go looks at those.
	longestCompared = 32 + 12
	noByte          = 0x80 // in order: zero
)
