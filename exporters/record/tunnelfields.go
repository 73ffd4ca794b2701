// Puts tunnels into a record: the headers around the flow, those of the packet in it, the network
// identifier.

package record

import (
	"encoding/binary"

	"intsink/engine/wire/inthdr"
	"intsink/engine/wire/packet"
)

// around reads the outermost of so many tunnels around the flow, and the first VNI among them.
func (d *Decoder) around(depth, n int) {
	o := &d.outers[0]
	d.of(o, n, &d.record.Outer)
	for k := range depth {
		o := &d.outers[k]
		if o.Proto == packet.ProtoUDP {
			d.vni(int(o.Payload), o.DstPort, n)
		}
	}
}

// of reads the headers that l describes into h, as far as they are within n bytes.
func (d *Decoder) of(l *packet.Layers, n int, h *Headers) {
	if h.Source, h.Destination, _, _, _ = d.ip(int(l.L3), n); !h.Source.IsValid() {
		return
	}
	h.Protocol, h.DSCP = l.Proto, l.DSCP
	if at := int(l.L4); l.Fragment != packet.LaterFragment && hasPorts(l.Proto) && at > 0 && at+4 <= n {
		h.SourcePort, h.DestinationPort = binary.BigEndian.Uint16(d.frame[at:]), binary.BigEndian.Uint16(d.frame[at+2:])
		h.HasPorts = true
	}
}

// vni reads the network identifier of the tunnel over UDP whose header stands at offset at, unless one is known.
func (d *Decoder) vni(at int, port uint16, n int) (t packet.Tunnel, ok bool) {
	if at <= 0 || at > n {
		return t, false
	}
	if t, ok = d.ports.OpenUDP(d.frame[at:n], port); ok && t.HasVNI && !d.record.Has(KnownVNI) {
		d.record.VNI = t.VNI
		d.record.Known |= KnownVNI
	}
	return t, ok
}

// tunnel reads what the flow carries, if INT is gone and it is a tunnel.
func (d *Decoder) tunnel(n int) {
	l, i := &d.layers, &d.info
	switch {
	case i.Unwraps():
		return
	case i.Marking.Apart():
		d.tunnelOf(l.Proto, int(l.L4), int(l.Payload), l.DstPort, n)
		return
	}
	switch i.Marking {
	case inthdr.ByGRE:
		d.inside(int(i.End), i.Next, n)
		return
	case inthdr.ByVXLANGPE:
		d.vni(int(l.Payload), packet.PortVXLAN, n) // the fields of both stand in the same places
		d.inside(int(i.End), packet.GPEEtherType(uint8(i.Next)), n)
		return
	case inthdr.ByIFA:
		d.behindIFA(n)
		return
	case inthdr.ByIFA1: // where the telemetry ends is not known for sure
		return
	}
	behind := int(i.End)
	switch i.NPT {
	case 1:
		d.tunnelOf(l.Proto, 0, behind, i.Orig, n)
	case 2:
		port := uint16(0)
		if behind+packet.UDPLen <= n {
			port = binary.BigEndian.Uint16(d.frame[behind+2:])
		}
		d.tunnelOf(uint8(i.Orig), behind, behind+packet.UDPLen, port, n)
	default:
		d.tunnelOf(l.Proto, 0, behind, l.DstPort, n)
	}
}

// behindIFA is tunnel for a packet with IFA, which stands behind the L4 header or at the packet's end.
func (d *Decoder) behindIFA(n int) {
	l, i := &d.layers, &d.info
	behind := int(i.End)
	if i.Stack == i.Second {
		behind = int(l.Payload)
	}
	switch {
	case l.Proto == packet.ProtoUDP:
		d.tunnelOf(l.Proto, 0, behind, l.DstPort, n)
	case l.Proto == packet.ProtoGRE && int(l.L4) <= n:
		if t, ok := packet.OpenGRE(d.frame[l.L4:n]); ok {
			if i.Stack == i.Second {
				behind = int(l.L4) + t.HeaderLen
			}
			d.inside(behind, t.EtherType, n)
		}
	}
}

// tunnelOf reads what a packet of that protocol carries, if it is a tunnel: its header of L4 stands at offset l4, what
// follows a UDP header at payload.
func (d *Decoder) tunnelOf(protocol uint8, l4, payload int, port uint16, n int) {
	if d.layers.Fragment == packet.LaterFragment || l4 > n {
		return
	}
	switch protocol {
	case packet.ProtoIPv4:
		d.inside(l4, packet.EtherTypeIPv4, n)
	case packet.ProtoIPv6:
		d.inside(l4, packet.EtherTypeIPv6, n)
	case packet.ProtoGRE:
		if t, ok := packet.OpenGRE(d.frame[l4:n]); ok {
			d.inside(l4+t.HeaderLen, t.EtherType, n)
		}
	case packet.ProtoUDP:
		if t, ok := d.vni(payload, port, n); ok {
			d.inside(payload+t.HeaderLen, t.EtherType, n)
		}
	}
}

// inside reads the headers of the packet at offset at.
func (d *Decoder) inside(at int, etherType uint16, n int) {
	var l packet.Layers
	if at < n && packet.ParseInner(d.frame, at, int(d.layers.End), etherType, &l) == packet.OK {
		d.of(&l, n, &d.record.Inner)
	}
}
