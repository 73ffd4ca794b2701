package strip

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/inthdr"
)

// Length of the headers of an untagged Ethernet frame with IPv4 without options and UDP.
const plainLen = 42

// Plain is Strip for INT behind the UDP header of such a frame, which is
// most INT packets: wide loads and wide stores, from the back, where nothing is
// stored over what is still to be loaded, for INT is 16 bytes at least. No byte is
// loaded twice: the compiler would then load all its neighbours one by one.
//
// i.Plain must be true.
//
// 16-bit words stay in the order of the packet, as RFC 1071 section 2(B) allows. There,
// a length that shrinks by n takes n with its bytes swapped from the sum.
func Plain(b []byte, i *inthdr.Info) (head int) {
	end := int(i.End)
	n := end - plainLen
	d := b[n:end]
	_ = d[plainLen-1]
	removed := sum(b[plainLen:end])
	h := b[:plainLen]
	shrink := bits.ReverseBytes16(uint16(n))

	// Destination, ports, length and checksum of UDP.
	w4, udpSum := binary.LittleEndian.Uint64(h[32:]), binary.LittleEndian.Uint16(h[40:])
	if udpSum != 0 {
		// What is taken from the packet is added to its checksum. The sum is not zero,
		// and a multiple of 65535 comes out as all ones, as RFC 768 wants it.
		port := ^bits.ReverseBytes16(i.Orig)
		udpSum = fold(uint64(fold32(removed)) + uint64(udpSum) + 2*uint64(shrink) + uint64(uint16(w4>>32)) + uint64(port))
	}
	binary.LittleEndian.PutUint16(d[40:], udpSum)
	binary.BigEndian.PutUint16(d[38:], bits.ReverseBytes16(uint16(w4>>48))-uint16(n))
	binary.BigEndian.PutUint16(d[36:], i.Orig)
	binary.LittleEndian.PutUint32(d[32:], uint32(w4))

	// Checksum, by RFC 1624, equation 3; source and destination.
	w3 := binary.LittleEndian.Uint64(h[24:])
	binary.LittleEndian.PutUint64(d[24:], w3&^0xffff|uint64(^addOnes(^uint16(w3), ^shrink)))

	// Total length, id, fragment, TTL, protocol.
	w2 := binary.LittleEndian.Uint64(h[16:])
	total := bits.ReverseBytes16(bits.ReverseBytes16(uint16(w2)) - uint16(n))
	binary.LittleEndian.PutUint64(d[16:], w2&^0xffff|uint64(total))

	binary.LittleEndian.PutUint64(d[8:], binary.LittleEndian.Uint64(h[8:]))
	binary.LittleEndian.PutUint64(d, binary.LittleEndian.Uint64(h))
	return n
}
