// The reported packet into a record: addresses, ports, VLANs, the flow as it was without INT.

package record

import (
	"encoding/binary"
	"net/netip"

	"intsink/engine/inthdr"
	"intsink/engine/packet"
	"intsink/engine/report"
)

const (
	intLen = 4 + 12 // shim and header of INT-MD

	maxVLANs = 8 // as many as package packet reads
)

// packet reads the reported packet b, which may be cut anywhere, and its INT; false
// where it is not of type t.
func (d *Decoder) packet(t report.InType, b []byte) bool {
	n := d.load(t, b)
	ok := d.headers(t, n)
	clear(d.frame[:n])
	return ok
}

// load puts b into the frame, with an Ethernet header in front where it has none, and
// returns how many bytes are in.
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
	return at + copy(d.frame[at:], b)
}

// headers reads the first n bytes of the frame. What is behind them is zeros: lengths
// that go beyond them make no difference, values there are not taken.
func (d *Decoder) headers(t report.InType, n int) bool {
	if t == report.Ethernet {
		d.ethernet(n)
	}
	l := &d.layers
	switch packet.Parse(d.frame, len(d.frame), l) {
	case packet.OK:
	case packet.NotIP:
		return t == report.Ethernet
	default: // cut, or a length that is none
		return d.addresses(d.network(n), n, t)
	}
	n = min(n, int(l.End)) // the padding of the report is not the packet's
	if !d.addresses(int(l.L3), n, t) {
		return false
	}
	r := &d.record
	r.Protocol, r.DSCP, r.Length = l.Proto, l.DSCP, uint32(l.End-l.L3)
	if !d.findINT() {
		d.transport(l.Proto, int(l.L4), n)
		return true
	}
	if n < int(d.info.Shim)+4 || d.info.Shim == 0 && n < int(l.End) { // cut in front of what was taken for INT
		r.Flags |= Truncated
		d.transport(l.Proto, int(l.L4), n)
		return true
	}
	d.original(n)
	return true
}

// findINT looks for INT in the frame. It may be unsound.
func (d *Decoder) findINT() bool {
	outer := d.layers
	best := inthdr.NotINT
	for _, p := range d.locators {
		l, i := outer, inthdr.Info{}
		switch result := p.Find(d.frame, &l, &i, &d.outers); {
		case result == inthdr.Sound:
			d.layers, d.info, d.locator = l, i, p
			return true
		case result == inthdr.Unsound && best == inthdr.NotINT:
			best = result
			d.layers, d.info, d.locator = l, i, nil
		}
	}
	return best != inthdr.NotINT
}

// original reads the packet as it was without INT, and INT itself.
func (d *Decoder) original(n int) {
	r, l, i := &d.record, &d.layers, &d.info
	if i.Depth > 0 { // the flow is that of the headers that INT belongs to
		d.addresses(int(l.L3), n, report.Ethernet)
		r.Length = uint32(l.End - l.L3)
	}
	r.Protocol, r.DSCP = l.Proto, i.DSCP
	if d.locator == nil {
		r.DSCP = l.DSCP
		if n >= int(i.Shim)+intLen || n >= int(l.End) {
			r.Flags |= Malformed
		} else {
			r.Flags |= Truncated
		}
		d.transport(l.Proto, int(l.L4), n)
		return
	}
	switch {
	case i.Marking == inthdr.ByGRE && i.Inserted:
		d.enclosed(n)
	case i.NPT == 1:
		d.transport(l.Proto, int(l.L4), n)
		r.DestinationPort = i.Orig
	case i.NPT == 2:
		r.Protocol = uint8(i.Orig)
		d.transport(r.Protocol, int(i.End), n)
	default:
		d.transport(l.Proto, int(l.L4), n)
	}
	d.stack(n)
}

// enclosed reads the packet that the source put into a tunnel for INT.
func (d *Decoder) enclosed(n int) {
	var l packet.Layers
	i := &d.info
	if packet.ParseInner(d.frame, int(i.End), int(d.layers.End), i.Next, &l) != packet.OK || !d.addresses(int(l.L3), n, report.Ethernet) {
		return
	}
	r := &d.record
	r.Protocol, r.DSCP, r.Length = l.Proto, l.DSCP, uint32(l.End-l.L3)
	d.transport(l.Proto, int(l.L4), n)
}

// ethernet reads addresses and tags. Addresses of zero are those of a header that was
// made up for a packet without one.
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

// etherType is what stands in front of offset at.
func (d *Decoder) etherType(at int) uint16 { return binary.BigEndian.Uint16(d.frame[at-2:]) }

// network is where the IP header stands behind the tags that ethernet read.
func (d *Decoder) network(int) int { return packet.EthernetLen + packet.VLANLen*len(d.record.VLANs) }

// addresses reads those of the IP header at the given place, where it is there in whole;
// false where it is none.
func (d *Decoder) addresses(at, n int, t report.InType) bool {
	r := &d.record
	b := d.frame[at:max(n, at)]
	switch {
	case len(b) == 0:
		return true
	case b[0]>>4 == 4 && t != report.IPv6:
		if len(b) >= packet.IPv4Len {
			r.Source, r.Destination = netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:]))
			r.Protocol, r.DSCP, r.Length = b[9], b[1]>>2, uint32(binary.BigEndian.Uint16(b[2:]))
			r.Known |= KnownAddresses
		}
		return true
	case b[0]>>4 == 6 && t != report.IPv4:
		if len(b) >= packet.IPv6Len {
			r.Source, r.Destination = netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:]))
			r.Protocol, r.DSCP, r.Length = b[6], uint8(binary.BigEndian.Uint16(b)>>6&0x3f), packet.IPv6Len+uint32(binary.BigEndian.Uint16(b[4:]))
			r.Known |= KnownAddresses
		}
		return true
	}
	return t == report.Ethernet
}

// transport reads the ports and TCP flags of the header at the given place, as far as
// the packet goes.
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
