// Key: the 5-tuple as words that compare without a call; sets and reads addresses and
// ports, orders keys, marks those of removed flows (tombstone).

package flows

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"net/netip"
	"slices"
)

// Key is the 5-tuple of the original packet. Its words compare without a call, and two
// tell all of an IPv4 packet, whose addresses and ports are as a little endian load finds
// them on the wire: no byte is swapped where packets come in.
type Key struct {
	portsProto uint64    // IP version 8, protocol 8, zero 16 (see tombstone), destination port 16, source port 16, upwards; with a VNI: vni.go
	addrs      [4]uint64 // IPv4: the first is source 32, destination 32, upwards, the rest counts for nothing; IPv6: as Src and Dst
}

// Equal compares word by word: == on the struct would be a call.
func (k *Key) Equal(o *Key) bool {
	return k.portsProto == o.portsProto && k.addrs[0] == o.addrs[0] && (k.portsProto&sixBit == 0 ||
		k.addrs[1] == o.addrs[1] && k.addrs[2] == o.addrs[2] && k.addrs[3] == o.addrs[3])
}

// Tag is 16 bits that are the same of equal keys. Whoever sends packets can choose keys with equal tags.
func (k *Key) Tag() uint16 {
	x := k.portsProto ^ k.addrs[0]
	if k.portsProto&sixBit != 0 {
		x ^= k.addrs[1] ^ k.addrs[2] ^ k.addrs[3]
	}
	return uint16(x * 0x9e3779b97f4a7c15 >> 48)
}

// Canonical is k with zeros in the words that an IPv4 key does not use: two such keys are
// equal by ==.
func (k *Key) Canonical() Key {
	if k.Version() == 4 {
		return Key{addrs: [4]uint64{k.addrs[0]}, portsProto: k.portsProto}
	}
	return *k
}

// markRemoved sets a bit that no packet's key has, so that lookups miss. The 5-tuple stays
// readable: losses may be reported after the flow's end.
func (k *Key) markRemoved() { k.portsProto |= tombstone }

// removed reports whether markRemoved was called.
func (k *Key) removed() bool { return k.portsProto&tombstone != 0 }

const tombstone = 1 << 16

// SetIPv4 sets the addresses of an IPv4 packet.
func (k *Key) SetIPv4(src, dst uint32) {
	k.addrs = [4]uint64{uint64(bits.ReverseBytes32(dst))<<32 | uint64(bits.ReverseBytes32(src))}
}

// SetIPv6 sets the addresses of an IPv6 packet, the words of each in the order of its
// bytes.
func (k *Key) SetIPv6(src0, src1, dst0, dst1 uint64) {
	k.addrs[0], k.addrs[1], k.addrs[2], k.addrs[3] = src0, src1, dst0, dst1
}

// SetWords4 makes k that of an IPv4 packet, all as little endian loads find it: what
// SetPorts sets, and both addresses at once. Words that do not count are left alone.
func (k *Key) SetWords4(portsProto, addrs uint64) { k.portsProto, k.addrs[0] = portsProto, addrs }

// SetWords6 makes k the key of an IPv6 packet: it sets all that SetPorts and SetIPv6 set.
func (k *Key) SetWords6(portsProto, src0, src1, dst0, dst1 uint64) {
	k.portsProto, k.addrs = portsProto, [4]uint64{src0, src1, dst0, dst1}
}

// PortsProto is what SetPorts makes, for SetWords4 and SetWords6.
func PortsProto(version, proto uint8, src, dst uint16) uint64 {
	var k Key
	k.SetPorts(version, proto, src, dst)
	return k.portsProto
}

// SetAddrs sets addresses that are both IPv4 or both IPv6.
func (k *Key) SetAddrs(src, dst netip.Addr) {
	if src.Is4() {
		s, d := src.As4(), dst.As4()
		k.SetIPv4(binary.BigEndian.Uint32(s[:]), binary.BigEndian.Uint32(d[:]))
		return
	}
	s, d := src.As16(), dst.As16()
	k.SetIPv6(binary.BigEndian.Uint64(s[:]), binary.BigEndian.Uint64(s[8:]), binary.BigEndian.Uint64(d[:]), binary.BigEndian.Uint64(d[8:]))
}

// SetPorts sets everything but the addresses.
func (k *Key) SetPorts(version, proto uint8, src, dst uint16) {
	k.portsProto = uint64(bits.ReverseBytes16(src))<<48 | uint64(bits.ReverseBytes16(dst))<<32 | uint64(proto)<<8 | uint64(version)
}

// Src returns the source address in the order of its bytes; an IPv4 address is the low half of the
// second word.
func (k *Key) Src() [2]uint64 {
	if k.Version() == 4 {
		return [2]uint64{1: uint64(bits.ReverseBytes32(uint32(k.addrs[0])))}
	}
	return [2]uint64{k.addrs[0], k.addrs[1]}
}

// Dst returns the destination address, as Src has it.
func (k *Key) Dst() [2]uint64 {
	if k.Version() == 4 {
		return [2]uint64{1: uint64(bits.ReverseBytes32(uint32(k.addrs[0] >> 32)))}
	}
	return [2]uint64{k.addrs[2], k.addrs[3]}
}

// Version is 4 or 6.
func (k *Key) Version() uint8 { return uint8(k.portsProto) & (4 | sixBit) }

// sixBit is the bit that tells version 6 from 4.
const sixBit = 2

// Proto returns the IP protocol.
func (k *Key) Proto() uint8 {
	if k.portsProto&hasVNI != 0 {
		return k.protoWithVNI()
	}
	return uint8(k.portsProto >> 8)
}

// SrcPort is zero where the protocol has no ports.
func (k *Key) SrcPort() uint16 { return bits.ReverseBytes16(uint16(k.portsProto >> 48)) }

// DstPort is zero where the protocol has no ports.
func (k *Key) DstPort() uint16 {
	if k.portsProto&(hasVNI|portCode<<8) == hasVNI {
		return 0
	}
	return bits.ReverseBytes16(uint16(k.portsProto >> 32))
}

// SrcAddr returns the source address.
func (k *Key) SrcAddr() netip.Addr { return k.addr(k.Src()) }

// DstAddr returns the destination address.
func (k *Key) DstAddr() netip.Addr { return k.addr(k.Dst()) }

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
	src, dst, srcs, dsts := k.Src(), k.Dst(), o.Src(), o.Dst()
	return cmp.Or(
		slices.Compare(src[:], srcs[:]), slices.Compare(dst[:], dsts[:]),
		cmp.Compare(k.SrcPort(), o.SrcPort()), cmp.Compare(k.DstPort(), o.DstPort()),
		cmp.Compare(k.portsProto&^tombstone, o.portsProto&^tombstone),
	)
}

// HasPorts reports whether the L4 header starts with two 16-bit ports: TCP, UDP,
// SCTP, DCCP, UDP-Lite.
func HasPorts(proto uint8) bool {
	switch proto {
	case 6, 17, 33, 132, 136:
		return true
	}
	return false
}
