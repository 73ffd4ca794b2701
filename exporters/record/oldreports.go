// Makes records of report packets of versions 1.0 and 0.5, whose bytes it reads itself.

package record

import (
	"encoding/binary"
	"math/bits"

	"intsink/engine/report"
)

// version10 reads a packet of 1.0, which has one report. ReadHeader has checked that b has
// the fixed header.
//
//	| Ver 4 | Length 4 | NProt 3 | RepMdBits 6 | Rsvd 6 | D Q F | hw_id 6 |
//	| Switch id | Sequence Number | Ingress Timestamp | metadata ... | packet ...
func (d *Decoder) version10(b []byte, h *Header, o *Origin, yield func(*Record)) error {
	d.begin(h, o, 0)
	r := &d.record
	first := binary.BigEndian.Uint32(b)
	r.Dropped, r.Congested, r.Tracked = first&0x100 != 0, first&0x80 != 0, first&0x40 != 0
	asked, length := uint8(first>>15&0x3f), int(first>>24&0xf)*4
	metadata := b[header10Len:min(max(length, header10Len), len(b))]
	ok := length <= len(b) && length == header10Len+4*bits.OnesCount8(asked)
	for bit := uint8(0x20); bit != 0 && len(metadata) >= 4; bit >>= 1 {
		if asked&bit == 0 {
			continue
		}
		d.value10(bit, binary.BigEndian.Uint32(metadata))
		metadata = metadata[4:]
	}
	next := first >> 21 & 0x7
	if next > 2 {
		ok = false
	} else if length <= len(b) {
		ok = d.packet(report.Ethernet+report.InType(next), b[length:]) && ok
	}
	return d.yieldOld(ok, yield)
}

// value10 reads the value of one of the six RepMdBits of 1.0.
func (d *Decoder) value10(bit uint8, v uint32) {
	switch bit {
	case 0x20:
		d.sinkInterfaces(v)
	case 0x10:
		d.sinkLatency(v)
	case 0x08:
		d.sinkQueue(v)
	case 0x02:
		d.dropReason(v)
	}
}

// version05 reads a packet of 0.5, which has one report. ReadHeader has checked that b has
// its headers.
//
//	| Ver 4 | NProto 4 | D Q F | Rsvd 15 | hw_id 6 |
//	| Sequence Number | Ingress Timestamp | drop or switch local header | frame ...
func (d *Decoder) version05(b []byte, h *Header, o *Origin, yield func(*Record)) error {
	d.begin(h, o, 0)
	r := &d.record
	first := binary.BigEndian.Uint32(b)
	r.Dropped, r.Congested, r.Tracked = first&(1<<23) != 0, first&(1<<22) != 0, first&(1<<21) != 0
	next := first >> 24 & 0xf
	if next != nextEthernet {
		local := b[header05Len:]
		d.sinkInterfaces(binary.BigEndian.Uint32(local[4:]))
		v := binary.BigEndian.Uint32(local[8:])
		if next == nextDrop {
			d.dropReason(v)
		} else {
			d.sinkQueue(v)
			// The hop latency is egress minus ingress timestamp, of 32 bits each, which may wrap.
			if in, out := binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(local[12:]); in != unknown && out != unknown {
				d.sinkLatency(out - in)
			}
		}
	}
	return d.yieldOld(d.packet(report.Ethernet, b[header05Len+localLen[next]:]), yield)
}

// yieldOld yields the record. If its lengths do not agree (ok is false) it sets the flag
// Malformed and returns ErrLengths.
func (d *Decoder) yieldOld(ok bool, yield func(*Record)) (err error) {
	if !ok {
		d.record.Flags |= Malformed
		err = ErrLengths
	}
	d.finish()
	yield(&d.record)
	return err
}
