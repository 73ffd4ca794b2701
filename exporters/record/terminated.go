// Decoder.Message: records of packets that the terminator of IFA reports by IPFIX: headers, metadata stack, packet without IFA.

package record

import (
	"encoding/binary"
	"errors"

	"intsink/engine/wire/ifa"
	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
	"intsink/exporters/ipfix/message"
)

// Elements of a data record, as indices of message.Data.
const (
	IFAHeaders = iota // the IFA header and the metadata header, and those between them
	IFAStack
	IFAPacket // the packet without IFA, as much of it as the terminator shows, from Ethernet or from IP on
)

// mostShown is how many bytes of a packet ClipIFA leaves: headers, those of tunnels, too.
const mostShown = 1024

// ClipIFA leaves of a data record what a record is made of. It returns false if its headers are not those of IFA 2.0.
func ClipIFA(data *message.Data) bool {
	var h ifa.Header
	if !ifa.ReadApart(data[IFAHeaders], &h) {
		return false
	}
	data[IFAStack] = data[IFAStack][:min(len(data[IFAStack]), int(h.Bytes))]
	data[IFAPacket] = data[IFAPacket][:min(len(data[IFAPacket]), mostShown)]
	return true
}

var errNotIFA = errors.New("not a message with IFA")

// Message calls yield with a record for each data record in a message that message.Append made, and returns how many there were. The
// reporting node is the observation domain. A record is what a report of the packet with its IFA gives, but for what only reports
// say.
func (d *Decoder) Message(m []byte, o *Origin, yield func(*Record)) (n int, err error) {
	h, _ := message.ReadHeader(m)
	whole := message.Records(m, func(data *message.Data) {
		r := &d.record
		r.Reset(Report)
		d.found = false
		r.Exporter, r.Received, r.Time, r.Start, r.Sequence = o.Exporter, o.Received, o.Received, o.Start, o.Sequence
		r.NodeID, r.Index, r.Known = h.Domain, uint16(n), KnownNode
		if d.terminated(data) {
			yield(r)
			n++
		}
		d.wipe()
	})
	if !whole || n == 0 {
		err = errNotIFA
	}
	return n, err
}

// terminated makes the record of a data record. It returns false if that is none of IFA.
func (d *Decoder) terminated(data *message.Data) bool {
	var h ifa.Header
	if !ifa.ReadApart(data[IFAHeaders], &h) {
		return false
	}
	d.without(&h, data[IFAPacket])
	d.wipe()
	stack := data[IFAStack]
	stack = stack[:min(len(stack), int(h.Bytes))] // an element of fixed length has padding behind it
	d.loaded = copy(d.frame, stack)
	var first inthdr.Info
	for k, p := range d.terminators { // the first that knows how the hops are laid out
		p.Terminated(&h, stack, &d.info)
		if d.locator = p; d.info.Reason == inthdr.ReasonNone {
			break
		}
		if k == 0 {
			first = d.info
		}
	}
	if d.info.Reason != inthdr.ReasonNone {
		d.info, d.locator = first, d.terminators[0]
	}
	d.found = true
	d.stack(len(stack))
	return true
}

// without reads the packet, whose IFA is elsewhere.
func (d *Decoder) without(h *ifa.Header, b []byte) {
	t := inTypeOf(b)
	n := d.load(t, b)
	added := d.restore(h, n)
	configured := d.locators
	d.locators = d.noINT // what else marks INT is in the packet as its sender made it
	d.headers(t, n)
	d.locators = configured
	if d.record.Has(KnownAddresses) {
		d.record.Length += added
	}
}

// restore gives the packet in the frame its own protocol, where the terminator took IFA out and left the header of IP as it was.
// It returns how many bytes of IFA the header's length does not count.
func (d *Decoder) restore(h *ifa.Header, n int) (added uint32) {
	const protocolOfIPv4, protocolOfIPv6 = 9, 6
	l := &d.layers
	if p := packet.Parse(d.frame, len(d.frame), l); p != packet.NotIP && int(l.L4) <= n && d.takesIFA(l.Proto) {
		switch at := int(l.L3); {
		case d.frame[at]>>4 == 4:
			d.frame[at+protocolOfIPv4] = h.Next
			return 0
		case int(l.L4) == at+packet.IPv6Len:
			d.frame[at+protocolOfIPv6] = h.Next
			return 0
		}
	}
	return 2*ifa.HeaderLen + uint32(h.Bytes)
}

func (d *Decoder) takesIFA(protocol uint8) bool {
	for _, c := range d.ifas {
		if c.Takes(protocol) {
			return true
		}
	}
	return false
}

// inTypeOf is what a packet begins with: Ethernet if an IP header follows it, else IP if one is there.
func inTypeOf(b []byte) report.InType {
	at := packet.EthernetLen
	for at+packet.VLANLen <= len(b) && packet.IsVLAN(binary.BigEndian.Uint16(b[at-2:])) {
		at += packet.VLANLen
	}
	if at < len(b) {
		switch e, version := binary.BigEndian.Uint16(b[at-2:]), b[at]>>4; {
		case e == packet.EtherTypeIPv4 && version == 4, e == packet.EtherTypeIPv6 && version == 6:
			return report.Ethernet
		}
	}
	switch {
	case len(b) >= packet.IPv4Len && b[0]>>4 == 4 && b[0]&15 >= 5:
		return report.IPv4
	case len(b) >= packet.IPv6Len && b[0]>>4 == 6:
		return report.IPv6
	}
	return report.Ethernet
}
