// Encodes reports of versions 1.0 and 0.5: Format, NProt, switch local and drop headers.

package report

import (
	"encoding/binary"

	"intsink/engine/wire/packet"
)

// Format is a version of the report format as the encoder writes it.
type Format uint8

const (
	Format20   Format = iota // Telemetry Report 2.0: any number of reports a packet
	Format10                 // 1.0: one report a packet
	Format05                 // 0.5: one report a packet, always from Ethernet on
	Format2018               // 1.0 with the RepMdBits of the proposal of January 2018
)

// Room that is left for what Seal writes, in front of the ingress timestamp.
const (
	sealed10 = 12 // first word, Switch id, Sequence Number
	sealed05 = 8  // first word, Sequence Number
	switchID = 12 // where 0.5 has the Switch id of a drop or switch local header
)

// NProto of 0.5; that of 1.0 is the place after Ethernet in InType.
const (
	nextEthernet = iota
	nextDrop
	nextSwitchLocal
)

// switchHeaderLen is the length of 0.5's switch local header, etherIPv4 and etherIPv6
// are EtherTypes.
const (
	switchHeaderLen = 16
)

// maxOldLen is the longest that stands between what Seal writes and the packet:
// 1.0's ingress timestamp and six words; 0.5's switch local header and a made up
// Ethernet header are no longer.
const maxOldLen = 4 + switchHeaderLen + packet.EthernetLen

// appendOld writes r as the one report of a 1.0 or 0.5 packet. Its packet is
// cut to the room there is.
func (p *Packet) appendOld(r *Individual) bool {
	if p.last || !r.old() {
		return false
	}
	var b [maxOldLen]byte
	first, n := r.putOld(p.format, b[:])
	if p.n+n > len(p.buf) {
		return false
	}
	binary.BigEndian.PutUint32(p.buf, first)
	p.n += copy(p.buf[p.n:], b[:n])
	p.n += copy(p.buf[p.n:], r.inner())
	p.reports, p.last = 1, true
	return true
}

// old reports whether the formats before 2.0 can express r.
func (r *Individual) old() bool {
	return r.Own != nil && r.InType != TLV && r.InType != DSExtension && r.InType <= IPv6
}

// putOld is put10 or put05.
func (r *Individual) putOld(f Format, b []byte) (first uint32, n int) {
	if f == Format05 {
		return r.put05(b)
	}
	return r.put10(f, b)
}

// oldSize is size for 1.0 and 0.5, which cut the packet.
func (r *Individual) oldSize(f Format, room int) int {
	if !r.old() {
		return 0
	}
	var b [maxOldLen]byte
	_, n := r.putOld(f, b[:])
	if n > room {
		return 0
	}
	return min(n+len(r.inner()), room)
}

// sealOld writes what only the packet's sender knows.
func (p *Packet) sealOld(h GroupHeader) {
	b := p.buf
	b[3] |= h.HwID & 0x3f
	if p.format != Format05 {
		binary.BigEndian.PutUint32(b[4:], h.NodeID)
		binary.BigEndian.PutUint32(b[8:], h.Sequence)
		return
	}
	binary.BigEndian.PutUint32(b[4:], h.Sequence)
	if b[0] != nextEthernet {
		binary.BigEndian.PutUint32(b[switchID:], h.NodeID)
	}
}

// put10 writes r's ingress timestamp and metadata to b as 1.0 has them, or the proposal of 2018, which has no hop
// latency and no utilization, and returns the first word of the header without hw_id.
//
//	| Ver 4 | Length 4 | NProt 3 | RepMdBits 6 | Rsvd 6 | D Q F | hw_id 6 |
func (r *Individual) put10(f Format, b []byte) (first uint32, n int) {
	md := uint32(0)
	m := r.Own
	put := func(asked, own uint16, v uint32) {
		if r.RepMdBits&asked != 0 {
			binary.BigEndian.PutUint32(b[n:], v)
			md |= uint32(own)
			n += 4
		}
	}
	binary.BigEndian.PutUint32(b, shortTime(m.IngressTimestamp))
	n = 4
	put(MdInterfaces, 0x20, m.interfaces())
	if f == Format2018 {
		put(MdQueue, 0x10, m.queue())
		put(MdEgressTimestamp, 0x08, shortTime(m.EgressTimestamp))
		put(MdDropReason, 0x04, m.drop())
	} else {
		put(MdHopLatency, 0x10, m.HopLatencyNs)
		put(MdQueue, 0x08, m.queue())
		put(MdEgressTimestamp, 0x04, shortTime(m.EgressTimestamp))
		put(MdDropReason, 0x02, m.drop())
		put(MdTxUtilization, 0x01, m.TxUtilization)
	}
	next := uint32(0)
	if r.InType > Ethernet {
		next = uint32(r.InType - Ethernet)
	}
	flags := uint32(bit(r.Dropped, 2) | bit(r.CongestedQueue, 1) | bit(r.TrackedFlow, 0))
	return 1<<28 | uint32(sealed10+n)/4<<24 | next<<21 | md<<15 | flags<<6, n
}

// put05 is put10 for 0.5. Any metadata but the ingress timestamp takes a switch
// local header, a drop reason takes a drop header instead; what is in either and
// not asked for is all ones. A packet without an Ethernet header gets one with
// addresses of zero, for nothing else may follow.
//
//	| Ver 4 | NProto 4 | D Q F | Rsvd 15 | hw_id 6 |
func (r *Individual) put05(b []byte) (first uint32, n int) {
	m := r.Own
	put := func(asked uint16, v uint32) {
		if r.RepMdBits&asked == 0 {
			v = unknown
		}
		binary.BigEndian.PutUint32(b[n:], v)
		n += 4
	}
	binary.BigEndian.PutUint32(b, shortTime(m.IngressTimestamp))
	n = 4
	next := uint32(nextEthernet)
	switch {
	case r.RepMdBits&MdDropReason != 0:
		next = nextDrop
		n += 4 // Switch id
		put(MdInterfaces, m.interfaces())
		put(MdDropReason, m.drop())
	case r.RepMdBits&(MdInterfaces|MdHopLatency|MdQueue|MdEgressTimestamp) != 0:
		next = nextSwitchLocal
		n += 4
		put(MdInterfaces, m.interfaces())
		put(MdQueue, m.queue())
		put(MdEgressTimestamp|MdHopLatency, shortTime(m.EgressTimestamp))
	}
	switch r.InType {
	case IPv4:
		n += packet.EthernetLen
		binary.BigEndian.PutUint16(b[n-2:], packet.EtherTypeIPv4)
	case IPv6:
		n += packet.EthernetLen
		binary.BigEndian.PutUint16(b[n-2:], packet.EtherTypeIPv6)
	}
	flags := uint32(bit(r.Dropped, 2) | bit(r.CongestedQueue, 1) | bit(r.TrackedFlow, 0))
	return next<<24 | flags<<21, n
}
