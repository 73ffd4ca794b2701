// What the kernel left to the device (struct virtio_net_hdr): cuts frames that GRO, TSO or
// UDP GSO joined into segments with headers of their own; completes checksums.

package afpacket

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"intsink/internal/checksum"
)

const ( // struct virtio_net_hdr
	vnetFlags, vnetType, vnetSize, vnetStart, vnetOffset = 0, 1, 4, 6, 8

	needsChecksum = 1
	gsoTCP4       = 1
	gsoTCP6       = 4
	gsoUDP        = 5    // VIRTIO_NET_HDR_GSO_UDP_L4
	gsoECN        = 0x80 // a flag
)

const (
	ethernetLen = 14
	macsLen     = 12
	maxHeaders  = 192 // Ethernet with a tag, IPv4 or IPv6, TCP with options: 18 + 60 + 60 at most

	flagFIN, flagPSH, flagCWR = 0x01, 0x08, 0x80
)

// joined is a frame that stands for several segments of a flow: GRO joined them, or their
// sender left it to the device to cut them (TSO, UDP GSO). The zero value is an empty one.
type joined struct {
	frame  []byte // headers, then the payload of all segments
	tag    uint32 // of the VLAN that the kernel took out; 0: none
	l3, l4 int
	data   int // where the payload begins
	size   int // payload of a segment; the last one may have less
	at     int // of the payload of the next segment
	index  uint16
	isUDP  bool
}

// more reports whether segments are left.
func (j *joined) more() bool { return j.at < len(j.frame) }

// begin finds the headers of a joined frame, whose segments have size bytes of payload.
// It refuses what it does not know how to cut: tunnels, IPv6 extension headers, lengths
// that do not fit. gsoType is of struct virtio_net_hdr.
func (j *joined) begin(frame []byte, gsoType uint8, size int) bool {
	*j = joined{}
	l3 := ethernetLen
	if len(frame) < l3 {
		return false
	}
	ether := binary.BigEndian.Uint16(frame[l3-2:])
	if (ether == unix.ETH_P_8021Q || ether == unix.ETH_P_8021AD) && len(frame) >= l3+4 {
		l3 += 4
		ether = binary.BigEndian.Uint16(frame[l3-2:])
	}
	ip := frame[l3:]
	protocol, ipLen := network(ether, ip)
	if ipLen == 0 || size == 0 {
		return false
	}
	transport := ip[ipLen:]
	headLen := 0
	switch kind := gsoType &^ gsoECN; {
	case protocol == unix.IPPROTO_TCP && (kind == gsoTCP4 || kind == gsoTCP6) && len(transport) >= 20:
		headLen = int(transport[12]>>4) * 4
		if headLen < 20 {
			return false
		}
	case protocol == unix.IPPROTO_UDP && kind == gsoUDP && len(transport) >= 8:
		headLen, j.isUDP = 8, true
	default:
		return false
	}
	data := l3 + ipLen + headLen
	if data >= len(frame) || data > maxHeaders {
		return false
	}
	j.frame, j.l3, j.l4, j.data, j.size, j.at = frame, l3, l3+ipLen, data, size, data
	return true
}

// network returns the protocol above IP and the length of the IP header; 0 where the
// packet is a fragment or has headers that are not known.
func network(ether uint16, ip []byte) (protocol uint8, ipLen int) {
	switch {
	case ether == unix.ETH_P_IP && len(ip) >= 20 && ip[0]>>4 == 4:
		n := int(ip[0]&15) * 4
		if n < 20 || n > len(ip) || binary.BigEndian.Uint16(ip[6:])&0x3fff != 0 {
			return 0, 0
		}
		return ip[9], n
	case ether == unix.ETH_P_IPV6 && len(ip) >= 40 && ip[0]>>4 == 6:
		return ip[6], 40
	}
	return 0, 0
}

// next writes the headers of the next segment to head and returns how many bytes they
// are, and the segment's payload.
func (j *joined) next(head *[maxHeaders]byte) (n int, payload []byte) {
	end := min(j.at+j.size, len(j.frame))
	payload = j.frame[j.at:end]
	h := head[:j.data]
	copy(h, j.frame[:j.data])
	ip, transport := h[j.l3:j.l4], h[j.l4:]
	length := len(transport) + len(payload)
	var pseudo uint16
	if ip[0]>>4 == 4 {
		binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)+length))
		binary.BigEndian.PutUint16(ip[4:], binary.BigEndian.Uint16(ip[4:])+j.index)
		ip[10], ip[11] = 0, 0
		binary.BigEndian.PutUint16(ip[10:], ^checksum.Sum(ip))
		pseudo = checksum.Sum(ip[12:20])
	} else {
		binary.BigEndian.PutUint16(ip[4:], uint16(length))
		pseudo = checksum.Sum(ip[8:40])
	}
	at := 16
	if j.isUDP {
		at = 6
		binary.BigEndian.PutUint16(transport[4:], uint16(length))
		pseudo = checksum.AddOnes(pseudo, unix.IPPROTO_UDP)
	} else {
		j.tcp(transport, end == len(j.frame))
		pseudo = checksum.AddOnes(pseudo, unix.IPPROTO_TCP)
	}
	transport[at], transport[at+1] = 0, 0
	pseudo = checksum.AddOnes(pseudo, uint16(length))
	c := ^checksum.AddOnes(pseudo, checksum.AddOnes(checksum.Sum(transport), checksum.Sum(payload)))
	if c == 0 && j.isUDP {
		c = 0xffff
	}
	binary.BigEndian.PutUint16(transport[at:], c)
	j.at, j.index = end, j.index+1
	return j.data, payload
}

// tcp makes the segment's sequence number and flags from those of the whole.
func (j *joined) tcp(transport []byte, last bool) {
	binary.BigEndian.PutUint32(transport[4:], binary.BigEndian.Uint32(transport[4:])+uint32(j.at-j.data))
	if !last {
		transport[13] &^= flagFIN | flagPSH
	}
	if j.index > 0 {
		transport[13] &^= flagCWR
	}
}

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
