// Puts the reported packet into a record: addresses, ports, VLANs, the flow as it was without
// INT.

package record

import (
	"encoding/binary"
	"net/netip"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
	"intsink/engine/wire/report"
)

const (
	intLen = 4 + 12 // shim and header of INT-MD

	maxVLANs = 8 // packet.Parse reads as many tags
)

// packet reads the reported packet b, which may be cut anywhere, and its INT. It returns
// false if b is not of type t.
func (d *Decoder) packet(t report.InType, b []byte) bool {
	return d.headers(t, d.load(t, b))
}

// load copies b into d.frame, behind an Ethernet header that it makes up if t has none, and
// returns how many bytes the frame has.
func (d *Decoder) load(t report.InType, b []byte) int {
	at := 0
	switch t {
	case report.IPv4:
		at = packet.EthernetLen
		binary.BigEndian.PutUint16(d.frame[packet.EthernetLen-2:], packet.EtherTypeIPv4)
	case report.IPv6:
		at = packet.EthernetLen
		binary.BigEndian.PutUint16(d.frame[packet.EthernetLen-2:], packet.EtherTypeIPv6)
	}
	d.loaded = at + copy(d.frame[at:], b)
	return d.loaded
}

// headers reads the first n bytes of the frame. Zeros follow them, so that the parser may read
// on where the packet was cut; no value from there gets into the record.
func (d *Decoder) headers(t report.InType, n int) bool {
	if t == report.Ethernet {
		d.ethernet(n)
	}
	l := &d.layers
	switch packet.Parse(d.frame, len(d.frame), l) {
	case packet.OK:
	case packet.NotIP:
		return t == report.Ethernet
	default: // cut, or a length that cannot be
		return d.addresses(d.network(n), n, t)
	}
	n = min(n, int(l.End)) // the padding of the report is not the packet's
	if !d.addresses(int(l.L3), n, t) {
		return false
	}
	r := &d.record
	r.Protocol, r.DSCP, r.Length = l.Proto, l.DSCP, uint32(l.End-l.L3)
	if !d.findINT(n) {
		d.transport(l.Proto, int(l.L4), n)
		d.tunnelOf(l.Proto, int(l.L4), int(l.Payload), l.DstPort, n)
		return true
	}
	if n < int(d.info.Shim)+4 || d.info.Shim == 0 && n < int(l.End) { // cut in front of INT: zeros were taken for it
		r.Flags |= Truncated
		d.transport(l.Proto, int(l.L4), n)
		return true
	}
	d.found = true
	d.original(n)
	return true
}

// findINT looks for INT in the first n bytes of the frame, which zeros follow, and returns whether there is any,
// sound or not.
func (d *Decoder) findINT(n int) bool {
	l, i := &d.layers, &d.info
	unsound, found := packet.Layers{}, inthdr.Info{} // of the first locator that finds INT which is not sound
	best := inthdr.NotINT
	d.ports = d.locators[0].ports
	for k := range d.locators {
		e := &d.locators[k]
		p := e.whole
		result := d.find(p)
		switch {
		case result == inthdr.Unsound && i.Reason == inthdr.ReasonOriginal && n < int(l.End) && !tellsLength(i, d.unpadded(n)):
			p = e.cut
			d.parseAgain()
			result = d.find(p)
		case result == inthdr.Sound && i.Reason == inthdr.ReasonHopML && i.Format == inthdr.Format1 && e.geant != nil:
			document, info := *l, *i
			d.parseAgain()
			if d.find(e.geant) == inthdr.Sound && i.Reason == inthdr.ReasonNone {
				p = e.geant
			} else {
				*l, *i = document, info
			}
		}
		switch {
		case result == inthdr.Sound:
			d.locator, d.ports = p, e.ports
			return true
		case result == inthdr.Unsound && best == inthdr.NotINT:
			best, unsound, found, d.locator = result, *l, *i, nil
		}
		if result != inthdr.NotINT { // else the layers are as they were
			d.parseAgain()
		}
	}
	if best != inthdr.NotINT {
		*l, *i = unsound, found
	}
	return best != inthdr.NotINT
}

// find looks for INT by one locator. What it finds is in d.layers and d.info: copies of these would take longer than the search.
func (d *Decoder) find(p *inthdr.Locator) inthdr.Result {
	d.info = inthdr.Info{}
	return p.Find(d.frame, &d.layers, &d.info, &d.outers)
}

// parseAgain sets the layers to those of the whole frame.
func (d *Decoder) parseAgain() { packet.Parse(d.frame, len(d.frame), &d.layers) }

// unpadded returns n without the zeros, three at most, that a report may have behind a packet that is cut.
func (d *Decoder) unpadded(n int) int {
	const padding = 3
	for least := max(n-padding, 0); n > least && d.frame[n-1] == 0; {
		n--
	}
	return n
}

// tellsLength reports whether the header that NPT 2 restores is there as far as its length field.
func tellsLength(i *inthdr.Info, n int) bool {
	const udp, tcp = 6, 13
	if i.Orig == packet.ProtoUDP {
		return n >= int(i.End)+udp
	}
	return n >= int(i.End)+tcp
}

// original reads the fields of the packet as it was without INT, and then INT itself.
func (d *Decoder) original(n int) {
	r, l, i := &d.record, &d.layers, &d.info
	if i.Depth > 0 { // INT inside a tunnel: the flow is that of the inner headers
		d.around(int(i.Depth), n)
		d.addresses(int(l.L3), n, report.Ethernet)
		r.Length = uint32(l.End - l.L3)
	}
	r.Protocol, r.DSCP = l.Proto, i.DSCP
	if d.locator == nil {
		r.DSCP = l.DSCP
		if n >= int(i.Shim)+intLen || n >= int(l.End) {
			r.Flags |= Malformed
			r.INTProblem = i.Reason
		} else {
			r.Flags |= Truncated
		}
		d.transport(l.Proto, int(l.L4), n)
		return
	}
	switch {
	case i.Unwraps():
		d.enclosed(n)
	case i.NPT == 2:
		r.Protocol = uint8(i.Orig)
		d.transport(r.Protocol, int(i.End), n)
	default:
		d.transport(l.Proto, int(l.L4), n)
		if i.NPT == 1 {
			r.DestinationPort = i.Orig
		}
	}
	d.tunnel(n)
	d.stack(n)
}

// enclosed reads the packet that the source put into a tunnel for INT.
func (d *Decoder) enclosed(n int) {
	var l packet.Layers
	i, mark := &d.info, d.record.ECN
	if packet.ParseInner(d.frame, int(i.End), int(d.layers.End), i.Next, &l) != packet.OK || !d.addresses(int(l.L3), n, report.Ethernet) {
		return
	}
	r := &d.record
	r.Outer.Source, r.Outer.Destination, r.Outer.Protocol, r.Outer.DSCP, _ = d.ip(int(d.layers.L3), n)
	r.Protocol, r.DSCP, r.Length = l.Proto, l.DSCP, uint32(l.End-l.L3)
	if mark == packet.CE && r.ECN != packet.NotECT {
		r.ECN = mark // the sink hands it on (RFC 6040)
	}
	d.layers.Fragment = l.Fragment
	d.transport(l.Proto, int(l.L4), n)
}

// ethernet reads MAC addresses and VLAN tags. Two addresses of zero are not taken: senders
// make up such a header for a packet that has none.
func (d *Decoder) ethernet(n int) {
	if n < packet.EthernetLen {
		return
	}
	r := &d.record
	copy(r.DestinationMAC[:], d.frame)
	copy(r.SourceMAC[:], d.frame[6:])
	if r.DestinationMAC != [6]byte{} || r.SourceMAC != [6]byte{} {
		r.Known |= KnownMACs
	}
	for at := packet.EthernetLen; at+packet.VLANLen <= n && packet.IsVLAN(d.etherType(at)) && len(r.VLANs) < maxVLANs; at += packet.VLANLen {
		r.VLANs = append(r.VLANs, binary.BigEndian.Uint16(d.frame[at:])&0xfff)
	}
}

// etherType returns the EtherType in the two bytes in front of offset at.
func (d *Decoder) etherType(at int) uint16 { return binary.BigEndian.Uint16(d.frame[at-2:]) }

// network returns the offset of the IP header, behind the tags that ethernet read.
func (d *Decoder) network(int) int { return packet.EthernetLen + packet.VLANLen*len(d.record.VLANs) }

// addresses reads the IP addresses of the header at offset at, if all of it is within n bytes.
// It returns false if there is no IP header of type t.
func (d *Decoder) addresses(at, n int, t report.InType) bool {
	if n <= at {
		return true
	}
	switch version := d.frame[at] >> 4; {
	case version == 4 && t != report.IPv6, version == 6 && t != report.IPv4:
	default:
		return t == report.Ethernet
	}
	if source, destination, protocol, dscp, length := d.ip(at, n); source.IsValid() {
		r := &d.record
		r.Source, r.Destination, r.Protocol, r.DSCP, r.Length = source, destination, protocol, dscp, length
		if r.ECN = d.frame[at+1] & 3; source.Is6() {
			r.ECN = d.frame[at+1] >> 4 & 3
		}
		r.Known |= KnownAddresses
	}
	return true
}

// ip reads the IP header at offset at, if all of it is within n bytes, and the length of its datagram. Without one, the source is not
// valid.
func (d *Decoder) ip(at, n int) (source, destination netip.Addr, protocol, dscp uint8, length uint32) {
	b := d.frame[at:max(n, at)]
	switch {
	case len(b) >= packet.IPv4Len && b[0]>>4 == 4:
		return netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:])), b[9], b[1] >> 2, uint32(binary.BigEndian.Uint16(b[2:]))
	case len(b) >= packet.IPv6Len && b[0]>>4 == 6:
		length = packet.IPv6Len + uint32(binary.BigEndian.Uint16(b[4:]))
		return netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:])), b[6], uint8(binary.BigEndian.Uint16(b) >> 6 & 0x3f), length
	}
	return source, destination, 0, 0, 0
}

// transport reads the ports and TCP flags of the header at offset at, as far as they are
// within n bytes.
func (d *Decoder) transport(protocol uint8, at, n int) {
	const flagsAt, tcp = 13, 6
	r := &d.record
	if d.layers.Fragment == packet.LaterFragment || !hasPorts(protocol) || at == 0 || n < at+4 {
		return
	}
	r.SourcePort, r.DestinationPort = binary.BigEndian.Uint16(d.frame[at:]), binary.BigEndian.Uint16(d.frame[at+2:])
	r.Known |= KnownPorts
	if protocol == tcp && n > at+flagsAt {
		r.TCPFlags = d.frame[at+flagsAt]
		r.Known |= KnownTCPFlags
	}
}
