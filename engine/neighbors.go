// ARP and Neighbor Discovery: shows frames of bursts that are not parsed to the stations that find neighbours for reports.

package engine

import (
	"encoding/binary"

	"intsink/engine/wire/packet"
)

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
