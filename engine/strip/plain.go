package strip

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/inthdr"
)

// Length of the headers of an untagged Ethernet frame with IPv4 without options and UDP.
const plainLen = 42

// Plain is Strip for INT behind the UDP header of such a frame, which is
// most INT packets: wide loads and wide stores, then what changes on top of these.
// No byte is loaded twice: the compiler would then load all its neighbours one by
// one.
//
// i.Plain must be true.
//
// 16-bit words stay in the order of the packet, as RFC 1071 section 2(B) allows. There,
// a length that shrinks by n takes n with its bytes swapped from the sum.
//
//	w2: total length, id, fragment, TTL, protocol    w4: ...destination, ports of UDP, length
//	w3: checksum, source, destination...
func Plain(b []byte, i *inthdr.Info) (head int) {
	end := int(i.End)
	n := end - plainLen
	// First of all, for nothing else is in a register yet.
	removed := sum(b[plainLen:end])
	h := b[:plainLen]
	w0, w1, w2 := binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(h[16:])
	w3, w4 := binary.LittleEndian.Uint64(h[24:]), binary.LittleEndian.Uint64(h[32:])
	udpSum := binary.LittleEndian.Uint16(h[40:])
	shrink := bits.ReverseBytes16(uint16(n))

	d := b[n:end]
	_ = d[plainLen-1]
	binary.LittleEndian.PutUint64(d, w0)
	binary.LittleEndian.PutUint64(d[8:], w1)
	binary.LittleEndian.PutUint64(d[16:], w2)
	binary.LittleEndian.PutUint64(d[24:], w3)
	binary.LittleEndian.PutUint64(d[32:], w4)

	binary.BigEndian.PutUint16(d[16:], bits.ReverseBytes16(uint16(w2))-uint16(n))
	binary.LittleEndian.PutUint16(d[24:], ^addOnes(^uint16(w3), ^shrink)) // RFC 1624, equation 3
	binary.BigEndian.PutUint16(d[36:], i.Orig)
	binary.BigEndian.PutUint16(d[38:], bits.ReverseBytes16(uint16(w4>>48))-uint16(n))
	if udpSum != 0 {
		// What is taken from the packet is added to its checksum. The sum is not zero,
		// and a multiple of 65535 comes out as all ones, as RFC 768 wants it.
		port := bits.ReverseBytes16(i.Orig)
		udpSum = fold(uint64(fold32(removed)) + uint64(udpSum) + 2*uint64(shrink) + uint64(uint16(w4>>32)) + uint64(^port))
	}
	binary.LittleEndian.PutUint16(d[40:], udpSum)
	return n
}
