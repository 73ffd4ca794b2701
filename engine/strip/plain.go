package strip

import (
	"encoding/binary"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// Offsets in an untagged Ethernet frame with IPv4 without options and UDP.
const (
	plainL4  = 34
	plainLen = 42
)

// stripPlain is Strip for INT behind the UDP header of such a frame, which is
// most INT packets: one load of each header word, six wide stores, five narrow
// ones on top.
func stripPlain(b []byte, l *packet.Layers, i *inthdr.Info) int {
	end := int(i.End)
	n := end - plainLen
	h := b[:plainLen]
	w0, w1, w2 := binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(h[16:])
	w3, w4, w5 := binary.LittleEndian.Uint64(h[24:]), binary.LittleEndian.Uint64(h[32:]), binary.LittleEndian.Uint64(h[34:])
	total := binary.BigEndian.Uint16(h[16:])
	ipSum := binary.BigEndian.Uint16(h[24:])
	length := binary.BigEndian.Uint16(h[38:])
	udpSum := binary.BigEndian.Uint16(h[40:])

	// ~m + m' of RFC 1624 for a length that shrinks by n is 0xffff - n.
	shrink := uint32(^uint16(n))
	ipSum = ^fold32(uint32(^ipSum) + shrink)
	if udpSum != 0 {
		udpSum = ^fold32(uint32(^udpSum) + uint32(^Sum(b[plainLen:end])) + 2*shrink + uint32(^l.DstPort) + uint32(i.Orig))
		if udpSum == 0 {
			udpSum = 0xffff
		}
	}
	d := b[n:end]
	_ = d[plainLen-1]
	binary.LittleEndian.PutUint64(d, w0)
	binary.LittleEndian.PutUint64(d[8:], w1)
	binary.LittleEndian.PutUint64(d[16:], w2)
	binary.LittleEndian.PutUint64(d[24:], w3)
	binary.LittleEndian.PutUint64(d[32:], w4)
	binary.LittleEndian.PutUint64(d[34:], w5)
	binary.BigEndian.PutUint16(d[16:], total-uint16(n))
	binary.BigEndian.PutUint16(d[24:], ipSum)
	binary.BigEndian.PutUint16(d[36:], i.Orig)
	binary.BigEndian.PutUint16(d[38:], length-uint16(n))
	binary.BigEndian.PutUint16(d[40:], udpSum)
	return n
}
