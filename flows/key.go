// Package flows is the sink's flow table: exact keys, fixed memory outside the
// Go heap, one owner, no locks.
package flows

import (
	"cmp"
	"encoding/binary"
	"net/netip"
)

// Key is the 5-tuple of the original packet. Its words compare without a call;
// an IPv4 address is the low half of Src[1] or Dst[1], the rest zero.
type Key struct {
	Src, Dst [2]uint64 // in the order of the bytes on the wire
	rest     uint64    // source port 16, destination port 16, 16 zero, protocol 8, IP version 8
}

// equal compares word by word: == on the struct would be a call.
func (k *Key) equal(o *Key) bool {
	return k.rest == o.rest && k.Src[1] == o.Src[1] && k.Dst[1] == o.Dst[1] &&
		(uint8(k.rest) == 4 || k.Src[0] == o.Src[0] && k.Dst[0] == o.Dst[0])
}

// SetIPv4 sets the addresses of an IPv4 packet.
func (k *Key) SetIPv4(src, dst uint32) {
	k.Src[0], k.Src[1] = 0, uint64(src)
	k.Dst[0], k.Dst[1] = 0, uint64(dst)
}

// SetAddrs sets addresses that are both IPv4 or both IPv6.
func (k *Key) SetAddrs(src, dst netip.Addr) {
	if src.Is4() {
		s, d := src.As4(), dst.As4()
		k.SetIPv4(binary.BigEndian.Uint32(s[:]), binary.BigEndian.Uint32(d[:]))
		return
	}
	s, d := src.As16(), dst.As16()
	k.Src = [2]uint64{binary.BigEndian.Uint64(s[:]), binary.BigEndian.Uint64(s[8:])}
	k.Dst = [2]uint64{binary.BigEndian.Uint64(d[:]), binary.BigEndian.Uint64(d[8:])}
}

// SetPorts sets everything but the addresses.
func (k *Key) SetPorts(version, proto uint8, src, dst uint16) {
	k.rest = uint64(src)<<48 | uint64(dst)<<32 | uint64(proto)<<8 | uint64(version)
}

// Version is 4 or 6.
func (k *Key) Version() uint8 { return uint8(k.rest) }

// Proto is the IP protocol.
func (k *Key) Proto() uint8 { return uint8(k.rest >> 8) }

// SrcPort is zero where the protocol has no ports.
func (k *Key) SrcPort() uint16 { return uint16(k.rest >> 48) }

// DstPort is zero where the protocol has no ports.
func (k *Key) DstPort() uint16 { return uint16(k.rest >> 32) }

// SrcAddr is the source address.
func (k *Key) SrcAddr() netip.Addr { return k.addr(k.Src) }

// DstAddr is the destination address.
func (k *Key) DstAddr() netip.Addr { return k.addr(k.Dst) }

func (k *Key) addr(w [2]uint64) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], w[0])
	binary.BigEndian.PutUint64(b[8:], w[1])
	if k.Version() == 4 {
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return netip.AddrFrom16(b)
}

// Compare orders keys by source, destination, then ports and protocol.
func (k *Key) Compare(o *Key) int {
	return cmp.Or(
		cmp.Compare(k.Src[0], o.Src[0]), cmp.Compare(k.Src[1], o.Src[1]),
		cmp.Compare(k.Dst[0], o.Dst[0]), cmp.Compare(k.Dst[1], o.Dst[1]),
		cmp.Compare(k.rest, o.rest),
	)
}

// HasPorts tells whether the L4 header starts with two 16-bit ports: TCP, UDP,
// SCTP, DCCP, UDP-Lite.
func HasPorts(proto uint8) bool {
	switch proto {
	case 6, 17, 33, 132, 136:
		return true
	}
	return false
}
