package strip

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
)

// UDPv4Len is the length of the headers of an untagged Ethernet frame with IPv4 without options and UDP.
const UDPv4Len = 42

// UDPv4 is Strip for INT behind the UDP header of such a frame, which is
// most INT packets. The headers move in three pieces, from the back, where nothing is
// stored over what is still to be loaded, for INT is 16 bytes at least; what changes in
// them is set where they are then.
//
// i.UDPv4 must be true. Of i nothing is read but where INT ends: all of it goes.
//
// 16-bit words stay in the order of the packet, as RFC 1071 section 2(B) allows. There,
// a length that shrinks by n takes n with its bytes swapped from the sum.
func UDPv4(b []byte, i *inthdr.Info) (head int) {
	end := uint(i.End)
	removed := packet.SumLE(b[UDPv4Len:end])
	n := end - UDPv4Len
	orig := binary.BigEndian.Uint16(b[UDPv4Len+2:])
	h, d := (*[UDPv4Len]byte)(b), (*[UDPv4Len]byte)(b[n:end])
	*(*[10]byte)(d[32:]) = *(*[10]byte)(h[32:])
	*(*[16]byte)(d[16:]) = *(*[16]byte)(h[16:])
	*(*[16]byte)(d[:]) = *(*[16]byte)(h[:])

	shrink := bits.ReverseBytes16(uint16(n))
	total := binary.BigEndian.Uint16(d[16:])
	binary.BigEndian.PutUint16(d[16:], total-uint16(n))
	// RFC 1624, equation 3.
	check := binary.LittleEndian.Uint16(d[24:])
	binary.LittleEndian.PutUint16(d[24:], ^packet.AddOnes(^check, ^shrink))

	udp := binary.BigEndian.Uint16(d[38:])
	binary.BigEndian.PutUint16(d[38:], udp-uint16(n))
	if udpSum := binary.LittleEndian.Uint16(d[40:]); udpSum != 0 {
		// What is taken from the packet is added to its checksum. The sum is not zero,
		// and a multiple of 65535 comes out as all ones, as RFC 768 wants it.
		port := ^bits.ReverseBytes16(orig)
		was := binary.LittleEndian.Uint16(d[36:])
		udpSum = packet.Fold(uint64(packet.Fold32(removed)) + uint64(udpSum) + 2*uint64(shrink) + uint64(was) + uint64(port))
		binary.LittleEndian.PutUint16(d[40:], udpSum)
	}
	binary.BigEndian.PutUint16(d[36:], orig)
	return int(n)
}
