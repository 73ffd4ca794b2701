// The other direction: bursts from the host pass untouched; parses their packets for INT that
// leaks, and counts those.

package engine

import (
	"encoding/binary"

	"intsink/engine/event"
	"intsink/engine/fast"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// toNetwork passes a burst from the host side untouched. INT has no business there:
// it is counted as a leak.
func (w *Worker) toNetwork(p *linkState, b *burst) {
	if w.passing {
		w.hearNeighbors(p.link.HostStation, b)
	} else {
		w.leaks(p, b)
	}
	p.counters.Direction[ToNetwork].Received += uint64(b.n)
	w.countSent(p, ToNetwork, p.link.Network, b, b.vec, b.n, p.link.Network.TxBurst(b.vec, b.n))
}

// leaks looks for INT in a burst from the host side, and for answers to who sends reports.
func (w *Worker) leaks(p *linkState, b *burst) {
	l, info := &b.layers[0], &b.info[0]
	station := p.link.HostStation
	for i := range b.n {
		m := b.vec[i]
		f, pktLen := m.Bytes(), m.PktLen()
		if at := w.fast.Recognise(f, pktLen); at != fast.None && !w.fast.IsINT(at) {
			continue
		}
		status := packet.Parse(f, pktLen, l)
		result := inthdr.NotINT
		if status == packet.OK {
			result = w.locator.Find(f, l, info, &b.outers[0])
		}
		if result == inthdr.Sound {
			p.counters.Leaked++
			if x := w.captured(p); x != nil {
				x.leaked(i)
			}
			if set := w.noFlowEvent(p, event.Leak, b.now); set != 0 {
				w.reportFrame(p, ToNetwork, b, set, m, 0, 0)
			}
		}
		if status == packet.OK && result == inthdr.NotINT && w.fast.MayStore() {
			w.fast.StoreNotINT(f, l)
		}
		if station != nil && maybeNeighbor(status, l) {
			station.Hear(f, b.now)
		}
	}
}

// hearNeighbors shows the frames of a burst that is not parsed to the station that finds neighbours for reports: they would be
// forgotten, and reports be dropped until they are found again. Of most frames one or two fields tell that they are not.
func (w *Worker) hearNeighbors(station Station, b *burst) {
	if station == nil {
		return
	}
	l := &b.layers[0]
	for _, m := range b.vec[:b.n] {
		if f := m.Bytes(); looksNeighborly(f) && maybeNeighbor(packet.Parse(f, m.PktLen(), l), l) {
			station.Hear(f, b.now)
		}
	}
}

// looksNeighborly reports whether a frame, behind up to two tags, is ARP or an IPv6 packet whose first header is ICMPv6:
// Neighbor Discovery has no extension headers.
func looksNeighborly(f []byte) bool {
	const nextHeader, etherTypeARP = 6, 0x0806
	at := packet.EthernetLen
	for range 2 {
		if len(f) >= at+packet.VLANLen && packet.IsVLAN(binary.BigEndian.Uint16(f[at-2:])) {
			at += packet.VLANLen
		}
	}
	if len(f) < at+nextHeader+1 {
		return false
	}
	switch binary.BigEndian.Uint16(f[at-2:]) {
	case etherTypeARP:
		return true
	case packet.EtherTypeIPv6:
		return f[at+nextHeader] == packet.ProtoICMPv6
	}
	return false
}
