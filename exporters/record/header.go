// ReadHeader: reads and checks the header of a report packet of any version: node, hw_id and
// sequence number, for records and for streams.

package record

import (
	"encoding/binary"

	"intsink/engine/report"
	"intsink/engine/report/decode"
)

// Header holds the fields of a report packet that package streams needs to find packets that
// are missing. Values are as on the wire.
type Header struct {
	Version      Version
	HasNode      bool // NodeID is known; a packet of 0.5 has it in a drop or switch local header only
	NodeID       uint32
	HwID         uint8
	Sequence     uint32
	SequenceBits uint8 // width of Sequence
	Identified   bool  // the packet says which sink sent it
	Identity     report.Identity
}

// ReadHeader reads the header of a report packet, the payload of a UDP datagram. It returns
// decode.ErrNotReport or decode.ErrTruncated, not wrapped.
func ReadHeader(packet []byte) (h Header, err error) {
	if len(packet) < 4 {
		return h, decode.ErrNotReport
	}
	first := binary.BigEndian.Uint32(packet)
	switch first >> 28 {
	case 2:
		if len(packet) < group20Len {
			return h, decode.ErrTruncated
		}
		h = Header{Version: Version20, HasNode: true, NodeID: binary.BigEndian.Uint32(packet[4:]), HwID: uint8(first >> 22 & 0x3f), Sequence: first & (1<<22 - 1), SequenceBits: 22}
		id, ok := report.ReadIdentity(packet[group20Len:])
		if ok && uint32(id.Sequence)&(1<<22-1) == h.Sequence { // else somebody has copied it into another packet
			h.Identified, h.Identity = true, id
		}
		return h, nil
	case 1:
		if len(packet) < header10Len {
			return h, decode.ErrTruncated
		}
		if first>>24&0xf < header10Len/4 {
			return h, decode.ErrNotReport
		}
		return Header{Version: Version10, HasNode: true, NodeID: binary.BigEndian.Uint32(packet[4:]), HwID: uint8(first & 0x3f), Sequence: binary.BigEndian.Uint32(packet[8:]), SequenceBits: 32}, nil
	case 0:
		next := first >> 24 & 0xf
		if next > nextSwitchLocal {
			return h, decode.ErrNotReport
		}
		if len(packet) < header05Len+localLen[next] {
			return h, decode.ErrTruncated
		}
		h = Header{Version: Version05, HasNode: next != nextEthernet, HwID: uint8(first & 0x3f), Sequence: binary.BigEndian.Uint32(packet[4:]), SequenceBits: 32}
		if h.HasNode {
			h.NodeID = binary.BigEndian.Uint32(packet[header05Len:])
		}
		return h, nil
	}
	return h, decode.ErrNotReport
}

// Lengths of headers in bytes.
const (
	group20Len  = 8
	header10Len = 16 // without metadata
	header05Len = 12

	individualLen = 4 // first word of an individual report
	mainLen       = 8 // RepMdBits, Domain Specific ID, DSMdBits, DSMdstatus
	tlvLen        = 4
)

// Values of NProto in 0.5, and the lengths of the headers that they announce.
const (
	nextEthernet = iota
	nextDrop
	nextSwitchLocal
)

var localLen = [...]int{nextEthernet: 0, nextDrop: 12, nextSwitchLocal: 16}

// CountReports returns how many individual reports a report packet has, as their lengths tell, without a look
// into them.
func CountReports(packet []byte) (n int) {
	if len(packet) == 0 || packet[0]>>4 != 2 {
		return 1
	}
	for at := group20Len; at < len(packet); at += individualLen {
		n++
		if at+1 < len(packet) {
			if packet[at+1] == 0xff {
				break
			}
			at += int(packet[at+1]) * 4
		}
	}
	return max(n, 1)
}

// Plausible reports whether the header of a report packet, and of its first report, has no bit set that every
// version leaves clear; bare says that nothing follows it. It takes most of what is no report packet for none.
func (*Decoder) Plausible(packet []byte) (bare, ok bool) {
	h, err := ReadHeader(packet)
	if err != nil {
		return false, false
	}
	switch first := binary.BigEndian.Uint32(packet); h.Version {
	case Version10:
		length := int(first>>24&0xf) * 4
		return len(packet) == length, first>>9&0x3f == 0 && first>>21&0x7 <= 2 && length <= len(packet)
	case Version05:
		return len(packet) == header05Len+localLen[first>>24&0xf], first>>6&0x7fff == 0
	}
	if h.Identified {
		return len(packet) == group20Len+report.IdentityReportLen, true
	}
	if len(packet) < group20Len+individualLen {
		return false, false
	}
	b := packet[group20Len:]
	return false, report.RepType(b[0]>>4) <= report.IOAM && report.InType(b[0]&0xf) <= report.IPv6 && b[3]&0xf == 0
}
