package engine

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/flows"
)

// lookup finds or makes the flow of every INT packet. Keys and hashes of the
// whole burst are computed first, so that the table's cache misses overlap.
func (w *Worker) lookup(b *burst) {
	for j := range b.nINT {
		i := b.int[j]
		flowKey(&b.keys[j], b.frame[i], &b.layers[i], &b.info[i])
	}
	b.fresh = w.table.LookupBurst(b.now, b.keys[:b.nINT], b.hashes[:b.nINT], b.flow[:b.nINT])
}

// flowKey writes the key of the ORIGINAL packet: ports and protocol as they
// will be when INT is gone.
func flowKey(k *flows.Key, f []byte, l *packet.Layers, info *inthdr.Info) {
	*k = flows.Key{Version: l.IPVersion, Proto: l.Proto, SrcPort: l.SrcPort, DstPort: l.DstPort}
	ip := int(l.L3)
	if l.IPVersion == 4 {
		copy(k.Src[:4], f[ip+12:ip+16])
		copy(k.Dst[:4], f[ip+16:ip+20])
	} else {
		copy(k.Src[:], f[ip+8:ip+24])
		copy(k.Dst[:], f[ip+24:ip+40])
	}
	switch info.NPT {
	case 1:
		k.DstPort = info.Orig
	case 2:
		k.Proto = uint8(info.Orig)
		k.SrcPort, k.DstPort = 0, 0
		if at := int(info.End); hasPorts(k.Proto) && at+4 <= int(l.End) && at+4 <= len(f) {
			k.SrcPort = binary.BigEndian.Uint16(f[at:])
			k.DstPort = binary.BigEndian.Uint16(f[at+2:])
		}
	}
}

// hasPorts tells whether the L4 header starts with two 16-bit ports: TCP, UDP,
// SCTP, DCCP, UDP-Lite.
func hasPorts(proto uint8) bool {
	switch proto {
	case 6, 17, 33, 132, 136:
		return true
	}
	return false
}

const (
	protoTCP = 6
	tcpFIN   = 0x01
	tcpRST   = 0x04
)

// tcpFlags are the flags of the original packet's TCP header, which stands
// behind INT with NPT 2; 0 for anything else.
func tcpFlags(f []byte, l *packet.Layers, info *inthdr.Info) uint8 {
	if info.NPT != 2 {
		return l.TCPFlags
	}
	if at := int(info.End) + 13; info.Orig == protoTCP && at < int(l.End) && at < len(f) {
		return f[at]
	}
	return 0
}
