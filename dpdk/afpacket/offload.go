// What the kernel left to the device (struct virtio_net_hdr): cuts frames that GRO, TSO or
// UDP GSO joined into segments with headers of their own; completes checksums.

package afpacket

import (
	"encoding/binary"
	"hash/crc32"

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

	flagFIN, flagPSH, flagCWR = 0x01, 0x08, 0x80
)

// Uncut says why what the kernel left to do to a frame could not be done.
type Uncut uint8

const (
	UncutKind     Uncut = iota // joined in a way that is not known
	UncutHeaders               // headers that are not known, or do not fit
	UncutChecksum              // a checksum to complete that is not in the frame
	Uncuts
)

// String is the value of the label reason.
func (u Uncut) String() string { return [Uncuts]string{"kind", "headers", "checksum"}[u] }

// joined is a frame that stands for several segments of a flow: GRO joined them, or their
// sender left it to the device to cut them (TSO, UDP GSO). The zero value is an empty one.
type joined struct {
	walk
	tag   uint32 // of the VLAN that the kernel took out; 0: none
	size  int    // payload of a segment; the last one may have less
	at    int    // of the payload of the next segment
	index int
	left  int  // segments
	ecn   bool // CWR is the first segment's alone
}

// more reports whether segments are left.
func (j *joined) more() bool { return j.left > 0 }

// begin finds the headers of a joined frame, which it may change. vnet is its struct
// virtio_net_hdr. It refuses what it does not know how to cut, and returns why.
func (j *joined) begin(frame, vnet []byte) (why Uncut, ok bool) {
	j.left = 0
	gso, size := vnet[vnetType], int(binary.NativeEndian.Uint16(vnet[vnetSize:]))
	w := walk{frame: frame}
	switch gso &^ gsoECN {
	case gsoTCP4, gsoTCP6:
		w.transport = unix.IPPROTO_TCP
	case gsoUDP:
		w.transport = unix.IPPROTO_UDP
	default:
		return UncutKind, false
	}
	partial := vnet[vnetFlags]&needsChecksum != 0
	if partial {
		w.start = int(binary.NativeEndian.Uint16(vnet[vnetStart:]))
	}
	if !w.find(ethernetLen) || size == 0 || w.data+size > 0xffff {
		return UncutHeaders, false
	}
	w.seeds()
	if !partial && !w.pseudo() {
		return UncutHeaders, false
	}
	w.cutJumbo()
	*j = joined{walk: w, size: size, at: w.data, ecn: gso&gsoECN != 0}
	j.left = max(1, (len(w.frame)-w.data+size-1)/size) // one without payload is a packet, too
	return 0, true
}

// segments is how many packets a joined frame of that length stands for, as far as can be told
// without its headers.
func segments(length int, vnet []byte) uint64 {
	const headers = 32 // TCP with the options that it mostly has
	size := int(binary.NativeEndian.Uint16(vnet[vnetSize:]))
	if vnet[vnetType] == 0 || size == 0 {
		return 1
	}
	payload := length - headers - int(binary.NativeEndian.Uint16(vnet[vnetStart:]))
	return uint64(max(1, (payload+size-1)/size))
}

// next writes the headers of the next segment to head and returns how many bytes they
// are, and the segment's payload.
func (j *joined) next(head *[maxHeaders]byte) (n int, payload []byte) {
	end := min(j.at+j.size, len(j.frame))
	payload = j.frame[j.at:end]
	h := head[:j.data]
	copy(h, j.frame)
	last := &j.layers[j.n-1]
	if last.kind == kindTCP {
		j.tcp(h[last.at:])
	}
	sum := checksum.Sum(payload)
	for i := j.n - 1; i >= 0; i-- {
		j.layers[i].finish(h, len(payload), sum, uint16(j.index))
	}
	j.at, j.index, j.left = end, j.index+1, j.left-1
	return j.data, payload
}

// tcp makes the segment's sequence number and flags from those of the whole. CWR is the first
// segment's where it answers RFC 3168's ECE, which the sender says; else it is a part of Accurate
// ECN's counter and that of all segments (RFC 9768, section 3.2.2).
func (j *joined) tcp(transport []byte) {
	binary.BigEndian.PutUint32(transport[4:], binary.BigEndian.Uint32(transport[4:])+uint32(j.at-j.data))
	if j.left > 1 {
		transport[13] &^= flagFIN | flagPSH
	}
	if j.index > 0 && j.ecn {
		transport[13] &^= flagCWR
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// complete writes the checksum that the kernel left to the device: over the bytes from
// start on, to the place offset behind it (VIRTIO_NET_HDR_F_NEEDS_CSUM). It tells whether both
// are within the packet.
//
// The place tells the protocol: SCTP has its CRC32c (RFC 9260, section 6.8) where none of the
// others has a checksum. Theirs are sums, and that of the pseudo header stands there already.
func complete(packet []byte, start, offset int) bool {
	const ofUDP, ofSCTP = 6, 8
	field := start + offset
	switch {
	case offset == ofSCTP && field+4 <= len(packet):
		binary.LittleEndian.PutUint32(packet[field:], 0)
		binary.LittleEndian.PutUint32(packet[field:], crc32.Checksum(packet[start:], castagnoli))
		return true
	case offset == ofSCTP || field+2 > len(packet):
		return false
	}
	c := ^checksum.Sum(packet[start:])
	if c == 0 && offset == ofUDP {
		c = 0xffff // 0 would say that there is none (RFC 768, RFC 3828)
	}
	binary.BigEndian.PutUint16(packet[field:], c)
	return true
}
