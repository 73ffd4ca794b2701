// Package flows is the sink's flow table: exact keys, fixed memory outside the
// Go heap, one owner, no locks.
package flows

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Key is the 5-tuple of the original packet. IPv4 addresses stand in the first
// four bytes, the rest zero.
type Key struct {
	Src, Dst         [16]byte
	SrcPort, DstPort uint16
	Proto, Version   uint8
	_                [2]byte
}

// hash mixes the seed in front, so that nobody outside can aim at a bucket.
func hash(seed uint64, k *Key) uint64 {
	var b [48]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	copy(b[8:], k.Src[:])
	copy(b[24:], k.Dst[:])
	binary.LittleEndian.PutUint64(b[40:], uint64(k.SrcPort)|uint64(k.DstPort)<<16|uint64(k.Proto)<<32|uint64(k.Version)<<40)
	return xxhash.Sum64(b[:])
}

// Headers appends IP and L4 headers made from the key to dst: the shortest
// valid packet of the flow, for reports that have no packet to show. 48 bytes at
// most.
func (k *Key) Headers(dst []byte) []byte {
	l4 := 0
	switch k.Proto {
	case 6:
		l4 = 20
	case 17, 136:
		l4 = 8
	case 33, 132:
		l4 = 12
	}
	at := len(dst)
	if k.Version == 4 {
		dst = append(dst, 0x45, 0, 0, byte(20+l4), 0, 0, 0x40, 0, 64, k.Proto, 0, 0)
		dst = append(append(dst, k.Src[:4]...), k.Dst[:4]...)
		binary.BigEndian.PutUint16(dst[at+10:], headerChecksum(dst[at:]))
	} else {
		dst = append(dst, 0x60, 0, 0, 0, 0, byte(l4), k.Proto, 64)
		dst = append(append(dst, k.Src[:]...), k.Dst[:]...)
	}
	if l4 == 0 {
		return dst
	}
	at = len(dst)
	dst = binary.BigEndian.AppendUint16(dst, k.SrcPort)
	dst = binary.BigEndian.AppendUint16(dst, k.DstPort)
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

func headerChecksum(h []byte) uint16 {
	s := uint32(0)
	for i := 0; i < len(h); i += 2 {
		s += uint32(h[i])<<8 | uint32(h[i+1])
	}
	s = s>>16 + s&0xffff
	return ^uint16(s>>16 + s)
}
