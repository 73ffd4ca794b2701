// Completes checksums that the kernel left to the device (VIRTIO_NET_HDR_F_NEEDS_CSUM), with
// internal/checksum.

package afpacket

import (
	"encoding/binary"

	"intsink/internal/checksum"
)

// complete writes the checksum that the kernel left to the device: over the bytes from
// start on, to the place offset behind it, where the sum of the pseudo header stands
// (VIRTIO_NET_HDR_F_NEEDS_CSUM). It tells whether both are within the packet.
func complete(packet []byte, start, offset int) bool {
	if start+offset+2 > len(packet) {
		return false
	}
	c := ^checksum.Sum(packet[start:])
	const ofUDP = 6
	if c == 0 && offset == ofUDP {
		c = 0xffff // 0 would say that there is none (RFC 768)
	}
	binary.BigEndian.PutUint16(packet[start+offset:], c)
	return true
}
