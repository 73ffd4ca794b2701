// ReadHeader: the header of a report packet of any version, with node, hw_id and sequence
// number; CountReports; Plausible, for what may be no report.

package decode

import (
	"encoding/binary"
	"errors"

	"intsink/engine/wire/report"
)

// Version is a version of Telemetry Report.
type Version uint8

const (
	UnknownVersion Version = iota
	Version05
	Version10
	Version20
)

// Header holds the fields of a report packet's header. Values are as on the wire.
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

// ErrNotReport says that a payload cannot be a telemetry report at all.
var ErrNotReport = errors.New("not a telemetry report")

// ErrTruncated says that a payload ends before its headers do.
var ErrTruncated = errors.New("truncated")

// Lengths of headers in bytes.
const (
	group20Len  = report.GroupHeaderLen
	header10Len = 16 // without metadata
	header05Len = 12

	firstWordLen = 4 // of an individual report
	intMainLen   = 8 // RepMdBits, Domain Specific ID, DSMdBits, DSMdstatus
	tlvHeaderLen = 4
)

// Values of NProto in 0.5, and the lengths of the headers that they announce.
const (
	nextEthernet = iota
	nextDrop
	nextSwitchLocal
)

var localLen = [...]int{nextEthernet: 0, nextDrop: 12, nextSwitchLocal: 16}

// ReadHeader reads the header of a report packet, the payload of a UDP datagram. It returns
// ErrNotReport or ErrTruncated, not wrapped.
func ReadHeader(packet []byte) (h Header, err error) {
	if len(packet) < 4 {
		return h, ErrNotReport
	}
	first := binary.BigEndian.Uint32(packet)
	switch first >> 28 {
	case 2:
		if len(packet) < group20Len {
			return h, ErrTruncated
		}
		h = Header{Version: Version20, HasNode: true, NodeID: binary.BigEndian.Uint32(packet[4:]), HwID: uint8(first >> 22 & 0x3f), Sequence: first & (1<<22 - 1), SequenceBits: 22}
		id, ok := report.ReadIdentity(packet[group20Len:])
		if ok && uint32(id.Sequence)&(1<<22-1) == h.Sequence { // else somebody has copied it into another packet
			h.Identified, h.Identity = true, id
		}
		return h, nil
	case 1:
		if len(packet) < header10Len {
			return h, ErrTruncated
		}
		if first>>24&0xf < header10Len/4 {
			return h, ErrNotReport
		}
		return Header{Version: Version10, HasNode: true, NodeID: binary.BigEndian.Uint32(packet[4:]), HwID: uint8(first & 0x3f), Sequence: binary.BigEndian.Uint32(packet[8:]), SequenceBits: 32}, nil
	case 0:
		next := first >> 24 & 0xf
		if next > nextSwitchLocal {
			return h, ErrNotReport
		}
		if len(packet) < header05Len+localLen[next] {
			return h, ErrTruncated
		}
		h = Header{Version: Version05, HasNode: next != nextEthernet, HwID: uint8(first & 0x3f), Sequence: binary.BigEndian.Uint32(packet[4:]), SequenceBits: 32}
		if h.HasNode {
			h.NodeID = binary.BigEndian.Uint32(packet[header05Len:])
		}
		return h, nil
	}
	return h, ErrNotReport
}

// CountReports returns how many individual reports a report packet has, as their lengths tell, without a look
// into them.
func CountReports(packet []byte) (n int) {
	if len(packet) == 0 || packet[0]>>4 != 2 {
		return 1
	}
	for at := group20Len; at < len(packet); at += firstWordLen {
		n++
		if at+1 < len(packet) {
			if packet[at+1] == toTheEnd {
				break
			}
			at += int(packet[at+1]) * 4
		}
	}
	return max(n, 1)
}

// Plausible reports whether the header of a report packet, and of its first report, has no bit set that every
// version leaves clear; bare says that nothing follows it. It takes most of what is no report packet for none.
func Plausible(packet []byte) (bare, ok bool) {
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
	if len(packet) < group20Len+firstWordLen {
		return false, false
	}
	return false, !reserved20(packet[group20Len:])
}
