// Packets that end before their IP length says: are they marked as INT?

package engine

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

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
