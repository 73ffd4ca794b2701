// Decodes report packets of versions 1.0 and 0.5 into the structs of decode; exporters/record has a
// reader of its own.

package decode

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"intsink/engine/report"
)

const (
	header10Len     = 16 // fixed part of version 1.0
	header05Len     = 12
	dropHeaderLen   = 12 // of 0.5
	switchHeaderLen = 16 // of 0.5, "switch local"
)

// decode10 decodes a version 1.0 report: one to a packet, all metadata in one
// header.
//
//	| Ver 4 | Length 4 | NProt 3 | RepMdBits 6 | Rsvd 6 | D Q F | hw_id 6 |
//	| Switch id | Sequence Number | Ingress Timestamp | metadata ... | packet ...
func (d *Decoder) decode10(p []byte) (*Message, error) {
	if len(p) < header10Len {
		return nil, fmt.Errorf("%w: version 1.0 header %w: %d of 16 bytes", ErrNotReport, ErrTruncated, len(p))
	}
	first := binary.BigEndian.Uint32(p)
	words := uint8(first >> 24 & 0xf)
	next := uint8(first >> 21 & 0x7)
	md := uint16(first >> 15 & 0x3f)
	header := int(words) * 4
	if want := header10Len + bits.OnesCount16(md)*4; header < header10Len || header < want || d.Strict && header != want {
		return nil, fmt.Errorf("%w: version 1.0 header of %d bytes, RepMdBits ask for %d", ErrNotReport, header, want)
	}
	if d.Strict && (first>>9&0x3f != 0 || next > 2) {
		return nil, fmt.Errorf("%w: reserved values in the version 1.0 header", ErrNotReport)
	}
	m := &Message{Header: Header{
		Version:        1,
		HwID:           uint8(first & 0x3f),
		SequenceNumber: binary.BigEndian.Uint32(p[8:]),
		NodeID:         ref(binary.BigEndian.Uint32(p[4:])),
	}}
	r := Report{
		NextProtocol:   &next,
		HeaderLength:   &words,
		Dropped:        first&0x100 != 0,
		CongestedQueue: first&0x80 != 0,
		TrackedFlow:    first&0x40 != 0,
		RepMdBits:      &md,
		Metadata:       Values{timestamp(p[12:])},
	}
	values, _ := oldRepBits.read(md<<10, p[header10Len:min(header, len(p))])
	r.Metadata = append(r.Metadata, values...)
	var err error
	if header > len(p) {
		err = fmt.Errorf("version 1.0 header %w: %d of %d bytes", ErrTruncated, len(p), header)
		r.Problem = err.Error()
	}
	if d.decodeOldInner(&r, next, p[min(header, len(p)):]); d.Strict && !r.Inner.isIP() {
		return nil, fmt.Errorf("%w: no IP packet behind the version 1.0 header", ErrNotReport)
	}
	r.nameDropReason()
	m.Reports = []Report{r}
	return m, err
}

// decodeOldInner decodes the packet of a 1.0 report; NProt is 0 Ethernet, 1
// IPv4, 2 IPv6.
func (d *Decoder) decodeOldInner(r *Report, next uint8, b []byte) {
	r.Inner = Inner{Type: "unknown", Length: len(b)}
	if next > 2 {
		r.Inner.Data = clone(b)
		return
	}
	t := report.Ethernet + report.InType(next)
	r.InType = ref(uint8(t))
	r.Inner.Type = inTypes[t]
	r.Inner.Flow, r.Inner.INT = d.dissect(t, b)
}

func (in *Inner) isIP() bool { return in.Flow != nil && in.Flow.Source != "" }

// timestamp returns the ingress timestamp of 1.0 and 0.5: nanoseconds in 32 bits.
func timestamp(b []byte) Value {
	v := binary.BigEndian.Uint32(b)
	return Value{Name: "ingress_timestamp", Number: uint64(v), Null: v == 1<<32-1}
}

// decode05 decodes a version 0.5 report: a fixed header, one of two optional
// headers, an Ethernet frame.
//
//	| Ver 4 | NProto 4 | D Q F | Rsvd 15 | hw_id 6 |
//	| Sequence Number | Ingress Timestamp |
func (d *Decoder) decode05(p []byte) (*Message, error) {
	if len(p) < header05Len {
		return nil, fmt.Errorf("%w: version 0.5 header %w: %d of 12 bytes", ErrNotReport, ErrTruncated, len(p))
	}
	first := binary.BigEndian.Uint32(p)
	next := uint8(first >> 24 & 0xf)
	if next > 2 || d.Strict && first>>6&0x7fff != 0 {
		return nil, fmt.Errorf("%w: reserved values in the version 0.5 header", ErrNotReport)
	}
	m := &Message{Header: Header{
		Version:        0.5,
		HwID:           uint8(first & 0x3f),
		SequenceNumber: binary.BigEndian.Uint32(p[4:]),
	}}
	r := Report{
		NextProtocol:   &next,
		Dropped:        first&(1<<23) != 0,
		CongestedQueue: first&(1<<22) != 0,
		TrackedFlow:    first&(1<<21) != 0,
		Metadata:       Values{timestamp(p[8:])},
	}
	rest, err := m.takeLocal(&r, next, p[header05Len:])
	if err != nil {
		r.Problem = err.Error()
	} else {
		d.decodeOldInner(&r, 0, rest)
		if d.Strict && !r.Inner.isIP() {
			return nil, fmt.Errorf("%w: no IP packet behind the version 0.5 header", ErrNotReport)
		}
	}
	r.nameDropReason()
	m.Reports = []Report{r}
	return m, err
}

// takeLocal reads the drop header (1) or the switch local header (2) of 0.5 and returns the bytes
// behind it.
func (m *Message) takeLocal(r *Report, next uint8, b []byte) ([]byte, error) {
	if next == 0 {
		return b, nil
	}
	size, parts := dropHeaderLen, dropReason
	if next == 2 {
		size, parts = switchHeaderLen, queue
	}
	if len(b) < size {
		return nil, fmt.Errorf("version 0.5 header %w: %d of %d bytes behind the fixed part", ErrTruncated, len(b), size)
	}
	m.NodeID = ref(binary.BigEndian.Uint32(b))
	r.Metadata = appendParts(r.Metadata, interfaces, b[4:8])
	r.Metadata = appendParts(r.Metadata, parts, b[8:12])
	if next == 2 {
		r.Metadata = appendParts(r.Metadata, word("egress_timestamp"), b[12:16])
	}
	return b[size:], nil
}
