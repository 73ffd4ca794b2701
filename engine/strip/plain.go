package strip

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/inthdr"
)

// Length of the headers of an untagged Ethernet frame with IPv4 without options and UDP.
const plainLen = 42

// Plain is Strip for INT behind the UDP header of such a frame, which is
// most INT packets: six wide loads, six wide stores, everything between in
// registers. No byte is loaded twice: the compiler would then load all its
// neighbours one by one.
//
// i.Plain must be true.
//
// 16-bit words stay in the order of the packet, as RFC 1071 section 2(B) allows.
//
//	w2: total length, id, fragment, TTL, protocol    w4: ..., destination, ports of UDP
//	w3: checksum, source, destination...             w5: (34) ports, length, checksum
func Plain(b []byte, i *inthdr.Info) (head int) {
	end := int(i.End)
	n := end - plainLen
	h := b[:plainLen]
	w0, w1, w2 := binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(h[16:])
	w3, w4, w5 := binary.LittleEndian.Uint64(h[24:]), binary.LittleEndian.Uint64(h[32:]), binary.LittleEndian.Uint64(h[34:])

	// ~m + m' of RFC 1624 for a length that shrinks by n is 0xffff - n.
	shrink := uint32(bits.ReverseBytes16(^uint16(n)))
	total := bits.ReverseBytes16(bits.ReverseBytes16(uint16(w2)) - uint16(n))
	ipSum := ^fold32(uint32(^uint16(w3)) + shrink)
	w2 = w2&^0xffff | uint64(total)
	w3 = w3&^0xffff | uint64(ipSum)

	port := bits.ReverseBytes16(i.Orig)
	length := bits.ReverseBytes16(bits.ReverseBytes16(uint16(w5>>32)) - uint16(n))
	udpSum := uint16(w5 >> 48)
	if udpSum != 0 {
		removed := uint32(^fold(sum(b[plainLen:end])))
		udpSum = ^fold32(uint32(^udpSum) + removed + 2*shrink + uint32(^uint16(w5>>16)) + uint32(port))
		if udpSum == 0 {
			udpSum = 0xffff // RFC 768: a computed zero is sent as all ones
		}
	}
	w5 = w5&0xffff | uint64(port)<<16 | uint64(length)<<32 | uint64(udpSum)<<48

	d := b[n:end]
	_ = d[plainLen-1]
	binary.LittleEndian.PutUint64(d, w0)
	binary.LittleEndian.PutUint64(d[8:], w1)
	binary.LittleEndian.PutUint64(d[16:], w2)
	binary.LittleEndian.PutUint64(d[24:], w3)
	binary.LittleEndian.PutUint64(d[32:], w4)
	binary.LittleEndian.PutUint64(d[34:], w5)
	return n
}
