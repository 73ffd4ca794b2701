// Key.Headers: makes IP and L4 headers of a key, for reports that have no packet to show.

package flows

import (
	"encoding/binary"

	"intsink/internal/checksum"
)

// MaxHeaders is the most bytes that Headers appends.
const MaxHeaders = 60

// Headers appends IP and L4 headers made from the key to dst: the shortest
// valid packet of the flow, for reports that have no packet to show.
func (k *Key) Headers(dst []byte) []byte {
	l4 := l4Len(k.Proto())
	at := len(dst)
	if k.Version() == 4 {
		dst = append(dst, 0x45, 0, 0, byte(20+l4), 0, 0, 0x40, 0, 64, k.Proto(), 0, 0)
		dst = binary.LittleEndian.AppendUint64(dst, k.addrs[0])
		binary.BigEndian.PutUint16(dst[at+10:], ^checksum.Sum(dst[at:]))
	} else {
		dst = append(dst, 0x60, 0, 0, 0, 0, byte(l4), k.Proto(), 64)
		for _, w := range k.addrs {
			dst = binary.BigEndian.AppendUint64(dst, w)
		}
	}
	if l4 == 0 {
		return dst
	}
	at = len(dst)
	dst = binary.BigEndian.AppendUint16(dst, k.SrcPort())
	dst = binary.BigEndian.AppendUint16(dst, k.DstPort())
	for len(dst) < at+l4 {
		dst = append(dst, 0)
	}
	switch l4 {
	case 20:
		dst[at+12] = 5 << 4 // data offset
	case 8:
		dst[at+5] = 8 // UDP length
	}
	return dst
}

// l4Len returns the length of the L4 header that Headers makes.
func l4Len(proto uint8) int {
	switch proto {
	case 6:
		return 20
	case 17, 136: // UDP, UDP-Lite
		return 8
	case 33, 132: // DCCP, SCTP
		return 12
	}
	return 0
}
