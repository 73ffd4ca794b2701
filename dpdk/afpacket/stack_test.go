package afpacket

import (
	"encoding/binary"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// seg is what a stack of headers is built around: a segment, or all of them joined.
type seg struct {
	index  int
	joined bool
	last   bool
}

// wrap puts a header in front of inner, as section by section of its RFC has it.
type wrap func(inner []byte, s seg) []byte

func be16(b []byte, at, v int) { binary.BigEndian.PutUint16(b[at:], uint16(v)) }

func fixed(header string) wrap {
	return func(inner []byte, _ seg) []byte { return append([]byte(header), inner...) }
}

// fits is v where a field of 16 bits has room for it, else 0: BIG TCP.
func fits(v int) int {
	if v > 0xffff {
		return 0
	}
	return v
}

func ip4(protocol, id, options int) wrap {
	return func(inner []byte, s seg) []byte {
		h := make([]byte, 20+4*options)
		h[0], h[8], h[9] = byte(0x45+options), 64, byte(protocol)
		for i := range 4 * options {
			h[20+i] = 1
		}
		be16(h, 2, fits(len(h)+len(inner)))
		be16(h, 4, id+s.index)
		be16(h, 6, 0x4000)
		copy(h[12:], "\x0a\x00\x00\x01\x0a\x00\x00\x02")
		be16(h, 10, int(^slowSum(h)))
		return append(h, inner...)
	}
}

// ip6 has extensions, of which the first has the protocol next. With jumbo, its joined form has a
// hop-by-hop header of the length more (RFC 2675).
func ip6(next, protocol int, extensions string, jumbo bool) wrap {
	return func(inner []byte, s seg) []byte {
		inner = append([]byte(extensions), inner...)
		if extensions == "" {
			next = protocol
		}
		h := make([]byte, 40)
		h[0], h[1], h[6], h[7], h[8], h[23], h[24], h[39] = 0x61, 0x23, byte(next), 64, 0xfd, 1, 0xfd, 2
		be16(h, 4, fits(len(inner)))
		if len(inner) > 0xffff && jumbo && s.joined {
			h = append(h, byte(next), 0, 0xc2, 4)
			h[6] = 0
			h = binary.BigEndian.AppendUint32(h, uint32(len(inner)+8))
		}
		return append(h, inner...)
	}
}

// summed puts the checksum of a packet in its place; of a joined one, the sum of its pseudo header.
func summed(packet []byte, v6 bool, protocol, at int, joined bool) {
	pseudo := []byte("\x0a\x00\x00\x01\x0a\x00\x00\x02")
	if v6 {
		pseudo = make([]byte, 32)
		pseudo[0], pseudo[15], pseudo[16], pseudo[31] = 0xfd, 1, 0xfd, 2
	}
	pseudo = binary.BigEndian.AppendUint32(append(pseudo, 0, byte(protocol)), uint32(len(packet)))
	if joined {
		be16(packet, at, int(slowSum(pseudo)))
		return
	}
	c := ^slowSum(append(pseudo, packet...))
	if c == 0 && protocol == unix.IPPROTO_UDP {
		c = 0xffff
	}
	be16(packet, at, int(c))
}

func udp(v6, sum bool) wrap {
	return func(inner []byte, s seg) []byte {
		p := append([]byte("\x03\xe8\x07\xd0\x00\x00\x00\x00"), inner...)
		be16(p, 4, fits(len(p)))
		if sum {
			summed(p, v6, unix.IPPROTO_UDP, 6, s.joined)
		}
		return p
	}
}

func tcp(v6, ecn bool, size, options int) wrap {
	return func(inner []byte, s seg) []byte {
		h := make([]byte, 20+4*options)
		copy(h, "\x03\xe8\x00\x50\xff\xff\xff\x00\x00\x00\x00\x01\x00\x99\x01\x00")
		h[12] = byte(5+options) << 4
		binary.BigEndian.PutUint32(h[4:], 0xffffff00+uint32(s.index*size))
		if !s.last && !s.joined {
			h[13] &^= flagFIN | flagPSH
		}
		if ecn && s.index > 0 {
			h[13] &^= flagCWR
		}
		p := append(h, inner...)
		summed(p, v6, unix.IPPROTO_TCP, 16, s.joined)
		return p
	}
}

func gre(flags int, proto uint16) wrap {
	return func(inner []byte, s seg) []byte {
		p := []byte{byte(flags), 0, byte(proto >> 8), byte(proto)}
		for bit := range []int{0, 1, 2} {
			if flags&(0x80>>bit) != 0 && bit != 1 {
				p = append(p, 0, 0, 0, 0)
			}
		}
		if flags&0x10 != 0 {
			p = append(p, 0, 0, 0, 7)
		}
		p = append(p, inner...)
		if flags&0x80 != 0 {
			be16(p, 4, 0)
			if !s.joined {
				be16(p, 4, int(^slowSum(p)))
			}
		}
		return p
	}
}

func pppoe(v6 bool) wrap {
	return func(inner []byte, s seg) []byte {
		p := append([]byte("\x11\x00\x00\x07\x00\x00\x00\x21"), inner...)
		if v6 {
			p[7] = 0x57
		}
		be16(p, 4, fits(len(inner)+2))
		return p
	}
}

// stacked is a joined frame and the segments that Linux makes of it.
type stacked struct {
	name     string
	frame    []byte
	vnet     []byte
	segments [][]byte
	tunnels  int
}

const macs = "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01"

// randomStack is any stack of headers that Linux joins frames with.
func randomStack(r *rand.Rand) (all []wrap, name string, tunnels int, v6, isTCP, ecn bool, size int) {
	push := func(n string, w wrap) { all, name = append(all, w), name+" "+n }
	ether := func(v6 bool) {
		push("ether", fixed(macs))
		for range r.IntN(3) {
			push("tag", fixed([]string{"\x81\x00\x60\x05", "\x88\xa8\x45\x00"}[r.IntN(2)]))
		}
		switch r.IntN(8) {
		case 0:
			push("mpls", fixed("\x88\x47\x45\x60\x00\x40\x60\x00\x31\x40"))
			return
		case 1:
			push("session", fixed("\x88\x64"))
			push("pppoe", pppoe(v6))
			return
		}
		push("type", fixed(map[bool]string{false: "\x08\x00", true: "\x86\xdd"}[v6]))
	}
	ip := func(v6 bool, protocol int) {
		if !v6 {
			push("ip4", ip4(protocol, r.IntN(1<<16), r.IntN(2)*r.IntN(11)))
			return
		}
		n := string([]byte{byte(protocol)})
		switch r.IntN(4) {
		case 0:
			push("ip6+destination", ip6(60, protocol, n+"\x01\x01\x0c"+string(make([]byte, 12)), false))
		case 1:
			push("ip6+hop+routing", ip6(0, protocol, "\x2b\x00\x05\x02\x00\x00\x01\x00"+n+"\x00\xfe\x00\x00\x00\x00\x00", false))
		default:
			push("ip6", ip6(protocol, protocol, "", r.IntN(2) == 0))
		}
	}
	v6 = r.IntN(2) == 0
	ether(v6)
	tunnels = r.IntN(4)
	for range tunnels {
		inner := r.IntN(2) == 0
		etherType := map[bool]uint16{false: 0x0800, true: 0x86dd}[inner]
		switch r.IntN(5) {
		case 0:
			ip(v6, map[bool]int{false: 4, true: 41}[inner])
		case 1:
			ip(v6, 47)
			push("gre", gre([]int{0, 0x20, 0x80, 0xa0, 0x30, 0xb0}[r.IntN(6)], etherType))
		case 2:
			ip(v6, 47)
			push("gretap", gre([]int{0, 0x20, 0x80}[r.IntN(3)], 0x6558))
			ether(inner)
		case 3:
			ip(v6, 17)
			push("vxlan", udp(v6, r.IntN(2) == 0))
			push("", fixed("\x08\x00\x00\x00\x00\x00\x07\x00"))
			ether(inner)
		case 4:
			ip(v6, 17)
			push("geneve", udp(v6, r.IntN(2) == 0))
			push("", fixed("\x01\x00\x65\x58\x00\x00\x07\x00\x01\x02\x80\x00"))
			ether(inner)
		}
		v6 = inner
	}
	size, isTCP, ecn = 1+r.IntN(1500), r.IntN(3) > 0, r.IntN(2) == 0
	if !isTCP {
		ip(v6, 17)
		push("udp", udp(v6, true))
		return
	}
	ip(v6, 6)
	push("tcp", tcp(v6, ecn, size, r.IntN(11)))
	return
}

// randomStacked builds a joined frame with n segments.
func randomStacked(r *rand.Rand) stacked {
	all, name, tunnels, v6, isTCP, ecn, size := randomStack(r)
	n := 1 + r.IntN(40)
	if isTCP && size > 100 && r.IntN(4) == 0 {
		n = 1 + 180000/size
	}
	payload := make([]byte, size*(n-1)+1+r.IntN(size))
	if !isTCP {
		payload = payload[:min(len(payload), 60000)]
	}
	for i := range payload {
		payload[i] = byte(i*i>>3 + i)
	}
	c := stacked{name: name, tunnels: tunnels, vnet: vnetHeader(isTCP, v6, ecn, size)}
	build := func(b []byte, s seg) []byte {
		for i := len(all) - 1; i >= 0; i-- {
			if b = all[i](b, s); i == len(all)-1 && s.joined {
				binary.NativeEndian.PutUint16(c.vnet[vnetStart:], uint16(len(b)))
			}
		}
		return b
	}
	c.frame = build(payload, seg{joined: true})
	for i := 0; i*size < len(payload); i++ {
		end := min(len(payload), (i+1)*size)
		c.segments = append(c.segments, build(payload[i*size:end], seg{index: i, last: end == len(payload)}))
	}
	binary.NativeEndian.PutUint16(c.vnet[vnetStart:], uint16(len(c.frame)-int(binary.NativeEndian.Uint16(c.vnet[vnetStart:]))))
	return c
}

// vnetHeader is a struct virtio_net_hdr without csum_start.
func vnetHeader(isTCP, v6, ecn bool, size int) []byte {
	h := make([]byte, vnetHdrLen)
	h[vnetFlags], h[vnetType] = needsChecksum, gsoUDP
	binary.NativeEndian.PutUint16(h[vnetOffset:], 6)
	if isTCP {
		h[vnetType] = map[bool]byte{false: gsoTCP4, true: gsoTCP6}[v6]
		if ecn {
			h[vnetType] |= gsoECN
		}
		binary.NativeEndian.PutUint16(h[vnetOffset:], 16)
	}
	binary.NativeEndian.PutUint16(h[vnetSize:], uint16(size))
	return h
}
