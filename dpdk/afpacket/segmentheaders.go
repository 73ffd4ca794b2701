// Finds the headers of a joined frame that differ from segment to segment, at whatever depth of
// tags and tunnels Linux joined it.

package afpacket

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"intsink/internal/checksum"
)

const (
	maxHeaders = 512 // two IPv6 headers, Geneve with all its options, TCP with options: 468
	maxLayers  = 16
	maxTries   = 64

	protoMPLS, protoEthernet = 137, 143 // RFC 4023, RFC 8986
)

// kind is one of the headers with fields that each segment has of its own.
type kind uint8

const (
	kindIPv4 kind = iota
	kindIPv6
	kindUDP
	kindTCP
	kindGRE   // with a checksum
	kindPPPoE // the header of a session
)

// layer is such a header.
type layer struct {
	kind kind
	sum  bool   // it has a checksum over all that follows
	at   int    // in the frame
	seed uint16 // sum of its pseudo header, without the length
}

// walk finds the layers of a frame from the outside to the TCP or UDP header whose payload is
// that of all segments.
//
// What stands between them (VLAN tags, MPLS labels, VXLAN at any port, Geneve, Ethernet once
// more) is the same in all segments, and nothing in a frame tells for sure what it is. So walk
// does not parse it: it looks for the next IP header, which it knows by a length that reaches
// to the end of the frame, and by a chain of protocols from there to the header looked for.
type walk struct {
	frame     []byte
	transport uint8 // IPPROTO_TCP or IPPROTO_UDP
	start     int   // where that header is (csum_start); 0: the first one in the frame
	tries     int   // IP headers looked at, right or wrong: a limit on the work
	data      int   // where the payload begins
	layers    [maxLayers]layer
	n         int
}

// find takes the first IP header at or behind byte at from which the walk comes to its end.
func (w *walk) find(at int) bool {
	for n := w.n; at+20 <= len(w.frame) && at < maxHeaders; at += 2 {
		if w.ip(at) {
			return true
		}
		w.n = n
	}
	return false
}

func (w *walk) ip(at int) bool {
	p := w.frame[at:]
	switch {
	case p[0]>>4 == 4 && reaches(p[2:], len(p)):
		w.session(at)
		fragment := binary.BigEndian.Uint16(p[6:]) & 0x3fff
		return p[0]&15 >= 5 && fragment == 0 && w.push(kindIPv4, at) && w.above(p[9], at+int(p[0]&15)*4)
	case p[0]>>4 == 6 && len(p) >= 40 && reaches(p[4:], len(p)-40):
		w.session(at)
		protocol, n := extensions(p)
		return w.push(kindIPv6, at) && w.above(protocol, at+n)
	}
	return false
}

// reaches tells whether an IP header's field of length says n. Of packets of more than it can say
// (BIG TCP) it is 0.
func reaches(field []byte, n int) bool {
	length := int(binary.BigEndian.Uint16(field))
	return length == n || length == 0 && n > 0xffff
}

// session takes the PPPoE header in front of the IP header at byte at, if there is one.
func (w *walk) session(at int) {
	const headLen, version = 8, 0x11
	if b := w.frame[:at]; at >= ethernetLen+headLen && b[at-headLen] == version && binary.BigEndian.Uint16(b[at-headLen-2:]) == unix.ETH_P_PPP_SES {
		w.push(kindPPPoE, at-headLen)
	}
}

// extensions returns the protocol behind the extension headers that Linux joins packets with, and
// where its header begins.
func extensions(p []byte) (protocol uint8, n int) {
	protocol, n = p[6], 40
	for protocol == unix.IPPROTO_HOPOPTS || protocol == unix.IPPROTO_ROUTING || protocol == unix.IPPROTO_DSTOPTS {
		if n+8 > len(p) {
			return unix.IPPROTO_NONE, n
		}
		protocol, n = p[n], n+int(p[n+1])*8+8
	}
	return protocol, n
}

// above takes the header of a protocol above IP, and what it carries.
func (w *walk) above(protocol uint8, at int) bool {
	if at+8 > len(w.frame) {
		return false
	}
	switch p := w.frame[at:]; protocol {
	case w.transport:
		if at == w.start || w.start == 0 {
			return w.end(at)
		}
		return protocol == unix.IPPROTO_UDP && w.push(kindUDP, at) && w.find(at+8)
	case unix.IPPROTO_UDP:
		return w.push(kindUDP, at) && w.find(at+8)
	case unix.IPPROTO_GRE:
		const hasChecksum = 0x80
		return (p[0]&hasChecksum == 0 || w.push(kindGRE, at)) && w.find(at+4)
	case unix.IPPROTO_IPIP, unix.IPPROTO_IPV6, protoMPLS, protoEthernet:
		return w.find(at)
	}
	return false
}

// end takes the TCP or UDP header that all segments have.
func (w *walk) end(at int) bool {
	k, length := kindUDP, 8
	if w.transport == unix.IPPROTO_TCP {
		if at+20 > len(w.frame) {
			return false
		}
		k, length = kindTCP, int(w.frame[at+12]>>4)*4
		if length < 20 {
			return false
		}
	}
	w.data = at + length
	return w.data <= min(len(w.frame), maxHeaders) && w.push(k, at)
}

// push adds a layer, unless the walk has taken too long.
func (w *walk) push(k kind, at int) bool {
	w.tries++
	if w.n == maxLayers || w.tries > maxTries {
		return false
	}
	w.layers[w.n] = layer{kind: k, at: at}
	w.n++
	return true
}

// seeds takes from each checksum that covers the payload what stands in it, as Linux does: the sum
// of the pseudo header with the length of the whole. (The addresses in front of it may not be
// those of the pseudo header: behind an IPv6 routing header, its last one is.)
func (w *walk) seeds() {
	for i := range w.layers[:w.n] {
		l := &w.layers[i]
		field := l.field()
		if field == 0 {
			continue
		}
		seed, length := binary.BigEndian.Uint16(w.frame[l.at+field:]), len(w.frame)-l.at
		l.sum = seed != 0 || i == w.n-1 || l.kind == kindGRE // UDP of a tunnel may have none
		l.seed = checksum.AddOnes(seed, ^checksum.AddOnes(uint16(length>>16), uint16(length)))
		if l.kind == kindGRE {
			l.seed = 0 // it has no pseudo header
		}
	}
}

// pseudo makes the innermost checksum that of a pseudo header, where it is that of a packet: the
// kernel did not touch it (rx-gro-list). It refuses a routing header.
func (w *walk) pseudo() bool {
	ip, l := &w.layers[w.n-2], &w.layers[w.n-1]
	addresses := w.frame[ip.at+12 : ip.at+20]
	if ip.kind == kindIPv6 {
		if l.at != ip.at+40 {
			return false
		}
		addresses = w.frame[ip.at+8 : ip.at+40]
	}
	l.seed, l.sum = checksum.AddOnes(checksum.Sum(addresses), uint16(w.transport)), true
	return true
}

// field is where the checksum over all that follows stands in a header; 0: it has none.
func (l *layer) field() int {
	switch l.kind {
	case kindUDP:
		return 6
	case kindTCP:
		return 16
	case kindGRE:
		return 4
	}
	return 0
}

// finish makes the fields of a layer those of segment index, whose headers are h; its payload is
// of n bytes, with that sum. Layers above are finished.
func (l *layer) finish(h []byte, n int, sum, index uint16) {
	b := h[l.at:]
	length := uint16(len(b) + n)
	switch l.kind {
	case kindIPv4:
		ip := b[:int(b[0]&15)*4]
		binary.BigEndian.PutUint16(ip[2:], length)
		binary.BigEndian.PutUint16(ip[4:], binary.BigEndian.Uint16(ip[4:])+index)
		ip[10], ip[11] = 0, 0
		binary.BigEndian.PutUint16(ip[10:], ^checksum.Sum(ip))
	case kindIPv6:
		binary.BigEndian.PutUint16(b[4:], length-40)
	case kindPPPoE:
		binary.BigEndian.PutUint16(b[4:], length-6)
	case kindUDP:
		binary.BigEndian.PutUint16(b[4:], length)
	case kindGRE:
		length = 0
	}
	if !l.sum {
		return
	}
	field := b[l.field():]
	field[0], field[1] = 0, 0
	c := ^checksum.AddOnes(checksum.AddOnes(l.seed, length), checksum.AddOnes(checksum.Sum(b), sum))
	if c == 0 && l.kind == kindUDP {
		c = 0xffff // 0 would say that there is none (RFC 768)
	}
	binary.BigEndian.PutUint16(field, c)
}

// cutJumbo takes the hop-by-hop headers out that tell the length of an IPv6 packet of more than
// 65535 bytes, as Linux does: the segments need none. It changes the frame.
func (w *walk) cutJumbo() {
	const headLen, option = 8, 0xc2
	for i := range w.layers[:w.n] {
		l := &w.layers[i]
		p := w.frame[l.at:]
		if l.kind != kindIPv6 || p[6] != unix.IPPROTO_HOPOPTS || p[4]|p[5] != 0 || p[41] != 0 || p[42] != option {
			continue
		}
		p[6] = p[40]
		copy(w.frame[headLen:], w.frame[:l.at+40])
		w.frame = w.frame[headLen:]
		w.data -= headLen
		for j := i + 1; j < w.n; j++ {
			w.layers[j].at -= headLen
		}
	}
}
