// Decoder: makes records of a 2.0 report packet: main contents, inner contents, TLVs,
// explanation.

package record

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"

	"intsink/engine/event"
	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/engine/report"
	"intsink/engine/report/decode"
)

// Options say how INT is found in the reported packets, and what the nodes' values mean.
type Options struct {
	// INT says how INT is recognised. The first entry that finds sound INT counts; nil:
	// DefaultINT. INT 1.0 whose hops are as long by the layout of GEANT's programs, and not by its
	// document, is read by that layout.
	INT []inthdr.Config
	// Models has the units and clocks of nodes.
	Models []event.NodeModel
	// Reporters are the same for what nodes report of themselves: of devices alone, since sinks report nanoseconds. A
	// model that lists no nodes holds for none.
	Reporters []event.NodeModel
}

// Origin says where a report packet comes from, and where it stands in its stream.
type Origin struct {
	Exporter netip.Addr // source address
	Received int64      // Unix nanoseconds
	Start    int64      // when the stream began, Unix nanoseconds
	Sequence uint64     // sequence number of the packet, extended beyond its width on the wire
}

// ErrLengths says that lengths or types in a report packet contradict each other or go
// beyond its end.
var ErrLengths = errors.New("lengths or types that do not agree")

// Decoder makes records of report packets. It allocates only until its buffers fit the
// longest packet. It belongs to one goroutine.
type Decoder struct {
	locators  []entry         // of the configuration, in its order
	corrected []entry         // the same for packets whose Length of the shim was corrected
	locator   *inthdr.Locator // found the INT of the packet at hand; nil: that INT is unsound
	models    event.Models
	reporters event.Models
	record    Record

	frame  []byte // the reported packet at hand, followed by zeros
	layers packet.Layers
	info   inthdr.Info
	outers inthdr.Outers
}

// entry finds INT as one entry of the configuration says.
type entry struct {
	whole *inthdr.Locator
	cut   *inthdr.Locator // in frames without what NPT 2 restores
	geant *inthdr.Locator // INT 1.0 by the layout of GEANT's programs, if whole reads it by the document; else nil
}

func newEntry(c inthdr.Config) entry {
	e := entry{whole: inthdr.NewLocator(c)}
	if c.Version1 && !c.GEANT {
		c.GEANT = true
		e.geant = inthdr.NewLocator(c)
	}
	c.Cut = true
	e.cut = inthdr.NewLocator(c)
	return e
}

// NewDecoder makes a Decoder.
func NewDecoder(o Options) *Decoder {
	if o.INT == nil {
		o.INT = DefaultINT()
	}
	d := &Decoder{models: event.NewModels(o.Models), reporters: event.NewModels(o.Reporters), frame: make([]byte, packet.MaxFrame)}
	for _, c := range o.INT {
		c.ReadOnly = true
		if !slices.ContainsFunc(c.Domains, func(d inthdr.Domain) bool { return d.ID == report.TransparentSecurityID }) {
			c.Domains = append(slices.Clone(c.Domains), transparentSecurityDomain())
		}
		d.locators = append(d.locators, newEntry(c))
		c.ShimInclusive = false
		d.corrected = append(d.corrected, newEntry(c))
	}
	return d
}

// Records calls yield with a record for each report in the payload of one UDP datagram, and
// returns how many there were. The Decoder uses the record again: it may be read until yield
// returns. The error is decode.ErrNotReport, decode.ErrTruncated or ErrLengths, not wrapped;
// the values that could be read have then been yielded, with the flag Malformed.
func (d *Decoder) Records(packet []byte, o *Origin, yield func(*Record)) (n int, err error) {
	h, err := ReadHeader(packet)
	if err != nil {
		return 0, err
	}
	switch h.Version {
	case Version10:
		return 1, d.version10(packet, &h, o, yield)
	case Version05:
		return 1, d.version05(packet, &h, o, yield)
	}
	at := group20Len
	if h.Identified {
		at += report.IdentityReportLen
	}
	if at == len(packet) {
		return 0, decode.ErrTruncated
	}
	for at < len(packet) {
		if len(packet)-at < individualLen {
			return n, decode.ErrTruncated
		}
		d.begin(&h, o, n)
		size, problem := d.individual(packet[at:])
		if problem != nil {
			d.record.Flags |= Malformed
			err = problem
		}
		d.finish()
		yield(&d.record)
		n++
		at += size
	}
	return n, err
}

// begin resets the record and fills in the fields of the report packet's header and origin.
func (d *Decoder) begin(h *Header, o *Origin, index int) {
	r := &d.record
	r.Reset(Report)
	r.Exporter, r.Received, r.Time, r.Start, r.Sequence = o.Exporter, o.Received, o.Received, o.Start, o.Sequence
	r.Version, r.NodeID, r.HwID, r.Index = h.Version, h.NodeID, h.HwID, uint16(index)
	if h.HasNode {
		r.Known |= KnownNode
	}
	if h.Identified {
		r.Known |= KnownInstance
		r.Instance = h.Identity.Instance
	}
}

// individual reads the individual report of 2.0 at the start of b, which has at least four
// bytes, and returns the report's length in bytes.
func (d *Decoder) individual(b []byte) (size int, err error) {
	const toTheEnd = 0xff // this many words or more: the report ends where the payload does
	r := &d.record
	r.Dropped, r.Congested, r.Tracked = b[3]&0x80 != 0, b[3]&0x40 != 0, b[3]&0x20 != 0
	size = individualLen + int(b[1])*4
	if size > len(b) {
		err = ErrLengths
	}
	if b[1] == toTheEnd || size > len(b) {
		size = len(b)
	}
	if t := decode.FindTransparentSecurity(b); t != decode.NotTransparentSecurity {
		d.transparentSecurity(t, b)
		return len(b), nil
	}
	contents := b[individualLen:size]
	switch report.RepType(b[0] >> 4) {
	case report.InnerOnly:
	case report.INT:
		var ok bool
		if contents, ok = d.mainContents(contents, int(b[2])*4); !ok && err == nil {
			err = ErrLengths
		}
	default: // IOAM and reserved types, whose contents no version defines
		return size, err
	}
	if !d.inner(report.InType(b[0]&0xf), contents) && err == nil {
		err = ErrLengths
	}
	return size, err
}

// mainContents reads the main contents of RepType 1, with length bytes of metadata, and
// returns the bytes behind them; ok is false if the lengths do not agree.
func (d *Decoder) mainContents(b []byte, length int) (behind []byte, ok bool) {
	if len(b) < mainLen {
		return nil, false
	}
	bits := binary.BigEndian.Uint16(b)
	b = b[mainLen:]
	ok = length <= len(b)
	length = min(length, len(b))
	return b[length:], d.sinkMetadata(bits, b[:length]) && ok
}

// inner reads the inner contents. It returns false if they are not of type t.
func (d *Decoder) inner(t report.InType, b []byte) bool {
	switch t {
	case report.None:
		return len(b) == 0
	case report.TLV:
		return d.tlvs(b)
	case report.Ethernet, report.IPv4, report.IPv6:
		return d.packet(t, b)
	}
	return true // extension data, reserved
}

// tlvs reads the TLVs: the explanation, and the first one that holds a packet.
func (d *Decoder) tlvs(b []byte) bool {
	found := false
	for len(b) > 0 {
		if len(b) < tlvLen || tlvLen+int(b[1])*4 > len(b) {
			return false
		}
		data := b[tlvLen : tlvLen+int(b[1])*4]
		switch t := report.TLVType(b[0] >> 4); {
		case t == report.TLVDSExtension && binary.BigEndian.Uint16(b[2:]) == report.ExplainTemplate:
			d.explanation(data)
		case t >= report.TLVEthernet && t <= report.TLVIPv6 && !found:
			found = true
			d.packet(report.Ethernet+report.InType(t-report.TLVEthernet), data)
		}
		b = b[tlvLen+len(data):]
	}
	return true
}

func (d *Decoder) explanation(data []byte) {
	var e report.Explanation
	if !e.Get(data) {
		return
	}
	r := &d.record
	r.Events, r.Suppressed, r.Lost, r.Drops = e.Events, e.Suppressed, e.Lost, e.Drops
	r.FlowPackets, r.FlowBytes = e.Packets, e.Bytes
	r.EventNode, r.Reference, r.EventValue = e.Trigger.NodeID, e.Trigger.Reference, e.Trigger.Value
	r.Known |= KnownEvents | KnownExplanation
	for known, v := range [...]uint32{r.EventNode, r.Reference, r.EventValue} {
		if v != report.NoTrigger.Value {
			r.Known |= KnownEventNode << known
		}
	}
}

// maxClockOffset is how far a sink's clock may be from the collector's in nanoseconds. Beyond
// it the record's time is when it was received: stores sort by that time and expire by it.
const maxClockOffset = int64(24 * 3600 * second)

// transparentSecurity reads individual report b as the code of Transparent Security writes
// them, which differs from the specification.
func (d *Decoder) transparentSecurity(kind decode.TransparentSecurity, b []byte) {
	if kind == decode.TransparentSecurityPacket {
		n := d.load(report.Ethernet, decode.TransparentSecurityFrame(b))
		decode.CorrectTransparentSecurity(d.frame[:n])
		configured := d.locators
		d.locators = d.corrected
		d.headers(report.Ethernet, n)
		d.locators = configured
		clear(d.frame[:n])
		return
	}
	r := &d.record
	seconds, count := decode.ReadTransparentSecurityDrop(b)
	d.setTime(int64(seconds) * second)
	r.Events, r.Drops = dropEvent, count
	r.Known |= KnownEvents | KnownDrops
}

// setTime makes t the record's time, unless it is too far from when the report was received.
func (d *Decoder) setTime(t int64) {
	if offset := t - d.record.Received; t > 0 && -maxClockOffset < offset && offset < maxClockOffset {
		d.record.Time = t
	}
}

// finish sets the events that the D and Q bits stand for, if the report names none.
func (d *Decoder) finish() {
	r := &d.record
	if r.Known&KnownEvents == 0 && (r.Dropped || r.Congested) {
		r.Known |= KnownEvents
		if r.Dropped {
			r.Events |= dropEvent
		}
		if r.Congested {
			r.Events |= congestionEvent
		}
	}
}
